import Films
import FoundationEssentials
import LazyImages
import SystemSupport

/// A folder of films, as people keep them for Kodi and Jellyfin:
///
///     Films/
///       Nosferatu (1922)/nosferatu.mkv, nosferatu.nfo, poster.jpg
///       F/Faust (1926)/Faust (1926) - 4K.mkv, Faust (1926) - 1080p.mkv, movie.nfo, folder.jpg
///       Fantômas/tvshow.nfo, poster.jpg, Season 1/Fantômas S01E01.mkv
///       Metropolis.1927.mkv, Metropolis.1927-poster.jpg
///
/// A film is a video, the copy of a disc (`VIDEO_TS`, `BDMV`), or a file of facts (`.nfo`) without one, in the folder
/// itself or in a folder below it. Its facts come from `<video>.nfo`, else from `movie.nfo` if its folder has no other
/// film, else from its name. Its poster is the first of `<video>.jpg`, `<video>-poster.jpg` and the like, and, if its
/// folder has no other film, `poster.jpg` and the like; else the address in the facts. A folder with `tvshow.nfo` or with
/// seasons is one series. Names that are not UTF-8 are left out, with a warning. `FolderNames` has the rules of names.
///
/// Reads again only what has changed. Safe for concurrent use. Calls block.
package final class FilmFolder: Sendable {
    /// The folder's path.
    package let path: String

    private let calls = FileCalls()
    /// The path without links.
    private let root: String
    /// Whether links that lead out of the folder are followed.
    private let followsLinks: Bool
    /// What was found in each folder inside, by its path; in the root itself by "".
    private let known = Lock<[String: Known]>([:])

    /// What one folder has, as it was read.
    private struct Known: Sendable {
        /// The folder, and the files of facts and seasons whose change does not change the folder, by path.
        let versions: [String: FileIdentity]
        let films: [FolderFilm]
        let pictures: [FolderFilm]
        /// The folders in it that may have films.
        let folders: [String]
        /// What is wrong with names in it.
        let problem: CatalogueError?
        /// The links that are not followed.
        let links: Int
    }

    /// What a folder and the folders in it have.
    private struct Found: Sendable {
        var films: [FolderFilm] = []
        var pictures: [FolderFilm] = []
        var problems: [CatalogueError] = []
        var links = 0
        /// How many folders are too deep to be read.
        var deeper = 0
        /// The folders themselves.
        var folders: [String] = []

        mutating func add(_ other: Found) {
            films += other.films
            pictures += other.pictures
            problems += other.problems
            links += other.links
            deeper += other.deeper
            folders += other.folders
        }
    }

    private struct Listing {
        var files: [String] = []
        var folders: [String] = []
        /// The names that are not UTF-8.
        var unreadable: [String] = []
        var links = 0

        /// The folders that may have films. At the top of a library `Shorts` may be a folder of films, unless the library is
        /// the folder of one film.
        func searched(isTop: Bool) -> [String] {
            let isTop = isTop && files.count(where: FolderNames.isVideo) != 1
            return folders.filter { !FolderNames.isSkipped(folder: $0, isTop: isTop) }
        }
    }

    /// The films of a page: more than a large window shows.
    private static let pageSize = 100
    /// How deep folders are read: `Genre/Letter/Saga/Film` takes four. The whole machine is no library.
    private var deepest: Int { root == "/" ? 0 : 8 }
    /// The most folders that are looked into to learn whether there are films.
    private static let mostLooks = 200
    /// The most bytes of a `.strm` or `.ignore` file.
    private static let smallFile = 4096

    /// - Parameters:
    ///   - path: an existing folder.
    ///   - followsLinks: whether links that lead out of the folder are followed, as for one's own screen. Default: yes.
    package init(_ path: String, followsLinks: Bool = true) {
        (self.path, self.followsLinks) = (path, followsLinks)
        root = URL(filePath: path).resolvingSymlinksInPath().path
    }

    /// Whether a folder has films: a video or a file of facts in it, or in a folder below it.
    package static func hasFilms(_ path: String) -> Bool {
        let folder = FilmFolder(path)
        // Into the depth first: the films may be below hundreds of folders.
        var (waiting, looks) = ([("", 0)], 0)
        while let (place, depth) = waiting.popLast(), looks < mostLooks {
            looks += 1
            // Ignored: a folder that cannot be read has no films to be seen. Reading its pictures reports it.
            guard let listing = try? folder.listing(of: place) else { continue }
            if listing.files.contains(where: FolderNames.isFilm)
                || listing.folders.contains(where: FolderNames.isDisc)
            {
                return true
            }
            guard depth < folder.deepest else { continue }
            waiting += listing.searched(isTop: place.isEmpty).reversed().map {
                (inside(place, $0), depth + 1)
            }
        }
        return false
    }

    /// Whether a file is a video, by its name.
    package static func isVideo(_ name: String) -> Bool { FolderNames.isVideo(name) }

    private var base: BaseURL { BaseURL(URL(filePath: path, directoryHint: .isDirectory)) }

    /// Reads the films, page by page, in the order of the names of their folders and files. Pictures come last.
    /// - Parameter take: called with each page.
    /// - Throws: `FileFault` if the folder cannot be read; errors of `take`.
    package func readPages(_ take: (CataloguePage) throws -> Void) throws {
        let top = try read("")
        let above: Set = Set([FileNumber(root)].compactMap(\.self))
        let places =
            top.films.map { (name: $0.name, film: Optional($0)) }
            + top.folders.map { (name: $0, film: nil) }
        let keys = places.map { FoldedText.sortKey($0.name) }
        let order = places.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
        var taken: Set<String> = []
        var found = Found(
            pictures: top.pictures, problems: [top.problem].compactMap(\.self), links: top.links)
        var (start, round) = (0, 1)
        var present: Set = [""]
        repeat {
            let numbers = order[start..<min(start + round, order.count)]
            (start, round) = (start + numbers.count, min(round * 2, Self.pageSize))
            let parts =
                numbers.isEmpty
                ? []
                : Parallel.map(numbers.count) { number -> Found in
                    let place = places[numbers[numbers.startIndex + number]]
                    return place.film.map { Found(films: [$0]) }
                        ?? self.films(below: place.name, depth: 1, above)
                }
            for part in parts { found.add(part) }
            present.formUnion(found.folders)
            let isLast = start == order.count
            guard isLast || found.films.count >= Self.pageSize else { continue }
            if isLast, found.links > 0 { found.problems.append(.skippedLinks(count: found.links)) }
            if isLast, found.deeper > 0 {
                found.problems.append(.tooDeep(folders: found.deeper, levels: deepest))
            }
            let films = found.films + (isLast ? found.pictures : [])
            var page = CataloguePage(films.map { $0.film(notIn: &taken) }, base: base)
            page.problems = found.problems + films.compactMap(\.problem)
            page.isLast = isLast
            try take(page)
            found = Found(pictures: found.pictures, links: found.links, deeper: found.deeper)
        } while start < order.count
        known.withLock { [present] known in known = known.filter { present.contains($0.key) } }
    }

    /// The films of a folder and of those in it.
    /// - Parameter above: the folders around it. A link to one of them would lead round for ever.
    private func films(below place: String, depth: Int, _ above: Set<FileNumber>) -> Found {
        guard let number = FileNumber(path(place)), !above.contains(number) else { return Found() }
        do throws(FileFault) {
            let here = try read(place)
            var found = Found(
                films: here.films, pictures: here.pictures, problems: [here.problem].compactMap(\.self),
                links: here.links, folders: [place])
            guard depth < deepest else {
                found.deeper = here.folders.count
                return found
            }
            let folders = here.folders.sorted { FoldedText.sortKey($0) < FoldedText.sortKey($1) }
            let inside = Parallel.map(folders.count) { index in
                self.films(below: Self.inside(place, folders[index]), depth: depth + 1, above.union([number]))
            }
            for part in inside { found.add(part) }
            return found
        } catch {
            let reason = error.detail ?? SystemError.text(error.code)
            return Found(
                problems: error.isAbsence ? [] : [.unreadableFolder(name: place, reason: reason)])
        }
    }

    /// What is in a folder, read again only if the folder or one of its files of facts has changed.
    private func read(_ place: String) throws(FileFault) -> Known {
        // Before the list: a change after it is seen by the next reading.
        let identity = try calls.status(ofPath: path(place), followsLinks: true).identity
        if let before = known.withLock({ $0[place] }), before.versions[place] == identity,
            before.versions.allSatisfy({ $0.key == place || self.identity(of: $0.key) == $0.value })
        {
            return before
        }
        let listing = try listing(of: place)
        var versions = [place: identity]
        let reader = FolderFilms.Reader(
            facts: { [self] root, path in
                versions[path] = self.identity(of: path)
                return facts(path, root)
            }, address: { [self] in address(in: $0) })
        let ownName = URL(filePath: path(place)).lastPathComponent
        let finder = FolderFilms(
            folder: place, ownName: ownName, files: listing.files, folders: listing.folders)
        let folders = listing.searched(isTop: place.isEmpty)
        let seasons = folders.filter { FolderNames.season(folder: $0) != nil }
        let isSeries =
            listing.files.contains { $0.lowercased() == "tvshow.nfo" } || !place.isEmpty && !seasons.isEmpty
        var found: (films: [FolderFilm], pictures: [FolderFilm])
        if isSeries {
            var episodes = [(folder: place, number: Int?.none, files: listing.files)]
            for folder in folders {
                let inner = Self.inside(place, folder)
                versions[inner] = self.identity(of: inner)
                // Ignored: a season that cannot be read has no episodes here.
                let files = (try? self.listing(of: inner))?.files ?? []
                episodes.append(
                    (
                        inner, FolderNames.season(folder: folder) ?? Int(folder).flatMap(FolderNames.season),
                        files
                    ))
            }
            found = ([finder.series(episodes, reader)], [])
        } else {
            found = finder.films(reader)
        }
        let problem = listing.unreadable.first.map { first in
            CatalogueError.unreadableNames(folder: place, first: first, count: listing.unreadable.count)
        }
        let read = Known(
            versions: versions, films: found.films, pictures: found.pictures,
            folders: isSeries ? [] : folders, problem: problem, links: listing.links)
        known.withLock { $0[place] = read }
        return read
    }

    private func facts(_ place: String, _ root: String) -> (file: NFOFile?, problem: String?) {
        let bytes: [UInt8]
        do throws(FileFault) {
            // One byte more than a file may have, so that a larger one is refused and not cut.
            bytes = try beginning(of: place, most: NFOFile.maximumBytes + 1)
        } catch {
            return (nil, "it cannot be read: \(error.detail ?? SystemError.text(error.code))")
        }
        do throws(CatalogueError) {
            return (try NFOFile(bytes, root: root), nil)
        } catch {
            return (nil, NFOFile.explanation(error))
        }
    }

    /// The address in a `.strm` file: its first line that is no comment. Nil if that is none on the network.
    private func address(in place: String) -> String? {
        // Ignored: the player will say that the file cannot be read.
        guard let bytes = try? beginning(of: place, most: Self.smallFile) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        let address = lines.lazy.map { String($0).trimmed }.first { !$0.isEmpty && !$0.hasPrefix("#") }
        return address.flatMap { $0.contains("://") && !$0.lowercased().hasPrefix("file:") ? $0 : nil }
    }

    private func beginning(of place: String, most: Int) throws(FileFault) -> [UInt8] {
        let file = try calls.openForReading(path: path(place))
        var bytes = [UInt8](repeating: 0, count: min(try calls.status(of: file).size, most))
        let count = try calls.read(file, into: &bytes)
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// - Returns: nil for a file that has gone, which is a change too.
    private func identity(of place: String) -> FileIdentity? {
        try? calls.status(ofPath: path(place), followsLinks: true).identity
    }

    /// The path of a place inside; "" is the root.
    private func path(_ place: String) -> String { Self.inside(root, place) }

    private static func inside(_ folder: String, _ name: String) -> String {
        folder.isEmpty || name.isEmpty ? folder + name : folder + "/" + name
    }

    /// The files and folders in a folder, sorted by name, without hidden ones, and without what its file `.ignore` names:
    /// an empty one names all.
    private func listing(of place: String) throws(FileFault) -> Listing {
        var listing = Listing()
        var ignored: [String]?
        // The last name is never that of a link.
        for bytes in try calls.nameBytes(in: try calls.openFolder(path(place) + "/.")) {
            guard let name = String(validating: bytes, as: UTF8.self) else {
                if bytes.first != 0x2E { listing.unreadable.append(String(decoding: bytes, as: UTF8.self)) }
                continue
            }
            if name == ".ignore" {
                // Ignored: a file that cannot be read ignores nothing.
                let text = try? beginning(of: Self.inside(place, name), most: Self.smallFile)
                ignored = text.map { String(decoding: $0, as: UTF8.self).split(whereSeparator: \.isNewline) }?
                    .map { String($0).trimmed }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
            }
            if name.hasPrefix(".") { continue }
            add(name, in: place, to: &listing)
        }
        if let ignored {
            let isIgnored = { (name: String) in
                ignored.isEmpty
                    || ignored.contains {
                        unsafe fnmatch($0.hasSuffix("/") ? String($0.dropLast()) : $0, name, 0) == 0
                    }
            }
            listing.files.removeAll(where: isIgnored)
            listing.folders.removeAll(where: isIgnored)
        }
        listing.files.sort()
        listing.folders.sort()
        listing.unreadable.sort()
        return listing
    }

    /// Adds a file or a folder; nothing for what is neither, and for what has just gone.
    private func add(_ name: String, in place: String, to listing: inout Listing) {
        let whole = path(Self.inside(place, name))
        guard var status = try? calls.status(ofPath: whole) else { return }
        if !status.isFile, !status.isFolder {
            let isInside = URL(filePath: whole).resolvingSymlinksInPath().path.hasPrefix(root + "/")
            guard let real = try? calls.status(ofPath: whole, followsLinks: true) else { return }
            guard isInside || followsLinks else {
                listing.links += 1
                return
            }
            status = real
        }
        if status.isFolder {
            listing.folders.append(name)
        } else if status.isFile, status.size > 0 || !FolderNames.pictures.contains(FolderNames.suffix(name)) {
            listing.files.append(name)
        }
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
