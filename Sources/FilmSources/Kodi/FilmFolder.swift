import Films
import FoundationEssentials
import LazyImages
import SystemSupport

/// A folder of films, as people keep them for Kodi and Jellyfin:
///
///     Films/
///       Nosferatu (1922)/nosferatu.mkv, nosferatu.nfo, poster.jpg
///       Faust (1926)/Faust (1926).mkv, movie.nfo, folder.jpg
///       Metropolis.1927.mkv, Metropolis.1927-poster.jpg
///
/// A film is a video, the copy of a disc (`VIDEO_TS`, `BDMV`), or a file of facts (`.nfo`) without one, in the folder
/// itself or in a folder there. Its facts come from `<video>.nfo`, else from `movie.nfo` if its folder has no other film,
/// else from its name. Its poster is the first of `<video>.jpg`, `<video>-poster.jpg` and the like, and, if its folder
/// has no other film, `poster.jpg` and the like; else the address in the facts. Links that lead out of the folder are
/// ignored. Names that are not UTF-8 are left out, with a warning.
///
/// Reads again only what has changed. Safe for concurrent use. Calls block.
package final class FilmFolder: Sendable {
    /// The folder's path.
    package let path: String

    private let calls = FileCalls()
    /// The path without links.
    private let root: String
    /// What was found in each folder inside, by its name; in the root itself by "".
    private let known = Lock<[String: Known]>([:])

    /// The films of one folder, as they were read.
    private struct Known: Sendable {
        let folder: FileIdentity
        /// The files of facts. An editor may change one without changing the folder.
        let facts: [String: FileIdentity]
        let films: [FolderFilm]
        /// The folders in it that may have films.
        let folders: [String]
        /// What is wrong with names in it.
        let problem: CatalogueError?
    }

    private struct Entry {
        let name: String
        let isFolder: Bool
    }

    /// The folders, and films of the root, of a page: more than a large window shows.
    private static let pageSize = 100
    /// The most folders that are looked into to learn whether there are films.
    private static let mostLooks = 200

    /// - Parameter path: an existing folder.
    package init(_ path: String) {
        self.path = path
        root = URL(filePath: path).resolvingSymlinksInPath().path
    }

    /// Whether a folder has films: a video or a file of facts in it, or in a folder there.
    package static func hasFilms(_ path: String) -> Bool {
        let folder = FilmFolder(path)
        // Ignored: a folder that cannot be read has no films here. Reading its pictures reports it.
        guard let names = try? folder.names(in: "").read else { return false }
        var looks = 0
        for entry in names.lazy.compactMap({ folder.entry($0, in: "") }) {
            if !entry.isFolder {
                if FolderFilms.isFilm(entry.name) { return true }
            } else if FolderFilms.isDisc(folder: entry.name) {
                return true
            } else if looks < mostLooks {
                looks += 1
                // Ignored: a folder that cannot be read has no films to be seen.
                let inside = (try? folder.entries(in: entry.name).read) ?? []
                if inside.contains(where: {
                    $0.isFolder ? FolderFilms.isDisc(folder: $0.name) : FolderFilms.isFilm($0.name)
                }) {
                    return true
                }
            }
        }
        return false
    }

    /// Whether a file is a video, by its name.
    package static func isVideo(_ name: String) -> Bool { FolderFilms.isVideo(name) }

    private var base: BaseURL { BaseURL(URL(filePath: path, directoryHint: .isDirectory)) }

    /// Reads the films, page by page, in the order of the names of their folders and files.
    /// - Parameter take: called with each page.
    /// - Throws: `FileFault` if the folder cannot be read; errors of `take`.
    package func readPages(_ take: (CataloguePage) throws -> Void) throws {
        let top = try read("")
        var places = top.films.map { (name: $0.name, films: [$0]) }
        places += top.folders.map { (name: $0, films: []) }
        let keys = places.map { FoldedText.sortKey($0.name) }
        let order = places.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
        var taken: Set<String> = []
        for start in stride(from: 0, to: max(1, order.count), by: Self.pageSize) {
            let end = min(start + Self.pageSize, order.count)
            let round = order[start..<max(start, end)].map { places[$0] }
            let found = round.isEmpty ? [] : Parallel.map(round.count) { self.films(at: round[$0]) }
            var films: [SourceFilm] = []
            var problems = start == 0 ? [top.problem].compactMap(\.self) : []
            for place in found {
                for film in place.films {
                    films.append(film.film(notIn: &taken))
                    if let problem = film.problem { problems.append(problem) }
                }
                if let problem = place.problem { problems.append(problem) }
            }
            var page = CataloguePage(films, base: base)
            page.problems = problems
            page.isLast = end == order.count
            if page.isLast || !page.films.isEmpty { try take(page) }
        }
        let present = Set(top.folders)
        known.withLock { known in known = known.filter { $0.key.isEmpty || present.contains($0.key) } }
    }

    private func films(
        at place: (name: String, films: [FolderFilm])
    ) -> (films: [FolderFilm], problem: CatalogueError?) {
        if !place.films.isEmpty { return (place.films, nil) }
        do throws(FileFault) {
            let found = try read(place.name)
            return (found.films, found.problem)
        } catch {
            let reason = error.detail ?? SystemError.text(error.code)
            return ([], error.isAbsence ? nil : .unreadableFolder(name: place.name, reason: reason))
        }
    }

    /// What is in a folder, read again only if the folder or one of its files of facts has changed.
    private func read(_ name: String) throws(FileFault) -> Known {
        // Before the list: a change after it is seen by the next reading.
        let folder = try calls.status(ofPath: path(name)).identity
        if let before = known.withLock({ $0[name] }), before.folder == folder,
            before.facts.allSatisfy({ identity(of: $0, in: name) == $1 })
        {
            return before
        }
        let (entries, unreadable) = try entries(in: name)
        var versions: [String: FileIdentity] = [:]
        let inside = entries.filter(\.isFolder).map(\.name)
        let found = FolderFilms(
            folder: name, ownName: URL(filePath: path(name)).lastPathComponent,
            files: entries.filter { !$0.isFolder }.map(\.name), folders: inside)
        let films = found.films { file in
            versions[file] = identity(of: file, in: name)
            return facts(path(name) + "/" + file)
        }
        let folders = inside.filter { !FolderFilms.isExtra(folder: $0) }
        let problem = unreadable.first.map { first in
            CatalogueError.unreadableNames(folder: name, first: first, count: unreadable.count)
        }
        let read = Known(folder: folder, facts: versions, films: films, folders: folders, problem: problem)
        known.withLock { $0[name] = read }
        return read
    }

    private func facts(_ path: String) -> (file: NFOFile?, problem: String?) {
        var bytes: [UInt8]
        do throws(FileFault) {
            let file = try calls.openForReading(path: path)
            // One byte more than a file may have, so that a larger one is refused and not cut.
            bytes = [UInt8](
                repeating: 0, count: min(try calls.status(of: file).size, NFOFile.maximumBytes + 1))
            let count = try calls.read(file, into: &bytes)
            bytes.removeLast(bytes.count - count)
        } catch {
            return (nil, "it cannot be read: \(error.detail ?? SystemError.text(error.code))")
        }
        do throws(CatalogueError) {
            return (try NFOFile(bytes), nil)
        } catch {
            return (nil, NFOFile.explanation(error))
        }
    }

    /// - Returns: nil for a file that has gone, which is a change too.
    private func identity(of file: String, in folder: String) -> FileIdentity? {
        try? calls.status(ofPath: path(folder) + "/" + file, followsLinks: true).identity
    }

    /// The path of a folder inside; "" is the root.
    private func path(_ folder: String) -> String { folder.isEmpty ? root : root + "/" + folder }

    /// The files and folders in a folder, sorted by name, and the names that cannot be read.
    private func entries(in folder: String) throws(FileFault) -> (read: [Entry], unreadable: [String]) {
        let names = try names(in: folder)
        return (names.read.compactMap { entry($0, in: folder) }, names.unreadable)
    }

    /// The names in a folder, sorted, without hidden ones. Those that are not UTF-8 stand apart, for messages.
    private func names(in folder: String) throws(FileFault) -> (read: [String], unreadable: [String]) {
        var (read, unreadable): ([String], [String]) = ([], [])
        for bytes in try calls.nameBytes(in: try calls.openFolder(path(folder))) where bytes.first != 0x2E {
            if let name = String(validating: bytes, as: UTF8.self) {
                read.append(name)
            } else {
                unreadable.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        return (read.sorted(), unreadable.sorted())
    }

    /// Nil for what is neither a file nor a folder, for a link that leads out of the root, and for what has just gone.
    private func entry(_ name: String, in folder: String) -> Entry? {
        let place = path(folder) + "/" + name
        guard var status = try? calls.status(ofPath: place) else { return nil }
        if !status.isFile, !status.isFolder {
            let target = URL(filePath: place).resolvingSymlinksInPath().path
            guard target.hasPrefix(root + "/"), let real = try? calls.status(ofPath: target) else {
                return nil
            }
            status = real
        }
        return status.isFile || status.isFolder ? Entry(name: name, isFolder: status.isFolder) : nil
    }
}

extension FilmFolder: FilmProvider {
    package var name: String { path }

    package var abilities: FilmAbilities {
        FilmAbilities().with { ($0.serving, $0.watchedFolder) = (.folder(path: path), path) }
    }

    /// Reads the folder on a thread of its own.
    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        let (pages, continuation) = AsyncThrowingStream.makeStream(of: CataloguePage.self)
        try BlockingThreads.startThread(name: "marquee-folder") { [self] in
            do {
                try readPages { page in
                    if case .terminated = continuation.yield(page) { throw CancellationError() }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        do {
            for try await page in pages where try await !take(page) { return }
        } catch let fault as FileFault {
            throw FilmFault("\(path): the folder cannot be read: \(fault)")
        }
    }
}
