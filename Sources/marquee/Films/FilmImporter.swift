import FilmSources
import Films
import FoundationEssentials
import ImageCodecs
import LazyImages

/// Decides about each film of an import, and counts the results.
struct FilmImporter {
    /// What happens to a film whose id is taken in the library.
    enum Policy: Sendable {
        case refuse, replace, skip
    }

    /// The result of an import. `JSONHelp` lists the members that `--json` prints.
    struct Report: Encodable, Sendable {
        private enum CodingKeys: CodingKey {
            case library, added, replaced, unchanged, skipped, leftOut, posters
        }

        /// The library's path.
        let library: String
        var added = 0
        var replaced = 0
        var unchanged = 0
        var skipped = 0
        var leftOut = 0
        /// The posters stored in the library.
        var posters = 0
        /// The posters that could not be read.
        var failedPosters = 0
        var warnings: [String] = []

        /// `36 films added, 2 left out; 36 posters stored`
        var summary: String {
            let parts =
                [(added, "added"), (replaced, "replaced"), (unchanged, "unchanged"), (skipped, "skipped")]
                .filter { $0.0 > 0 } + (leftOut > 0 ? [(leftOut, "left out")] : [])
            let text = parts.enumerated().map { index, part in
                let films = index > 0 ? "" : part.0 == 1 ? " film" : " films"
                return "\(part.0)\(films) \(part.1)"
            }.joined(separator: ", ")
            let stored =
                posters == 0 ? "" : posters == 1 ? "; 1 poster stored" : "; \(posters) posters stored"
            return (text.isEmpty ? "no films" : text) + stored
        }

        /// The same of a rehearsal: `would add 36 films, leave out 2, store 36 posters`
        var plan: String {
            let films = [(added, "add"), (replaced, "replace"), (skipped, "skip"), (leftOut, "leave out")]
                .filter { $0.0 > 0 }.enumerated().map { index, part in
                    "\(part.1) \(part.0)" + (index > 0 ? "" : part.0 == 1 ? " film" : " films")
                }
            let stored = posters == 0 ? [] : [posters == 1 ? "store 1 poster" : "store \(posters) posters"]
            let text =
                films.isEmpty ? "would change nothing" : "would " + (films + stored).joined(separator: ", ")
            return text + (unchanged > 0 ? "; \(unchanged) unchanged" : "")
        }
    }

    /// The most ids in the message about taken ones.
    private static let idsNamed = 5
    /// The largest file that is read as a poster.
    private static let maximumPosterBytes = 64 << 20

    private let importing: FilmImport
    private let policy: Policy
    private let base: BaseURL
    /// Whether the library is in the folder of the list: relative addresses of files mean the same in both.
    private let isBesideList: Bool
    private var report: Report
    private var ids: Set<String> = []
    private var existing: [String] = []

    /// - Parameters:
    ///   - base: the base of the list's addresses.
    ///   - library: the library's path.
    init(_ importing: FilmImport, _ policy: Policy, base: BaseURL, library: String) {
        self.importing = importing
        self.policy = policy
        self.base = base
        report = Report(library: library)
        let folders = [base.url, URL(filePath: library)].map {
            URL(filePath: ".", relativeTo: $0).standardizedFileURL.resolvingSymlinksInPath()
        }
        isBesideList = base.url.isFileURL && folders[0] == folders[1]
    }

    /// Adds a film, or notes why not.
    mutating func add(
        _ film: Result<FilmDocument, CatalogueError>, _ stored: PosterBytes?, position: Int
    ) throws {
        var document: FilmDocument
        let id: String
        let movie: Movie
        do throws(CatalogueError) {
            document = try film.get()
            // A missing id is made up; an invalid one is an error.
            let hasID = document["id"].map { !$0.isNull } ?? false
            movie = try document.movie(id: hasID ? nil : "film", position: position)
            id = try identifier(hasID ? movie.id : "", movie)
        } catch {
            leaveOut("\(error)")
            return
        }
        completeAddresses(&document, movie, id)
        let poster =
            stored.map { PosterBytes(mediaType: $0.mediaType, bytes: withoutMetadata($0.bytes, id)) }
            ?? poster(movie.poster, of: &document, id)
        do throws(FilmLibraryError) {
            switch try importing.add(document, id: id, poster: poster, replaces: policy == .replace) {
            case .added: count(\.added, poster)
            case .replaced: count(\.replaced, poster)
            case .unchanged: report.unchanged += 1
            case .exists where policy == .skip: report.skipped += 1
            case .exists: existing.append(id)
            }
        } catch {
            switch error {
            case .filmTooLarge, .tooManyMembers: leaveOut("\(error)")
            default: throw error
            }
        }
    }

    private mutating func count(_ kind: WritableKeyPath<Report, Int>, _ poster: PosterBytes?) {
        report[keyPath: kind] += 1
        if poster != nil { report.posters += 1 }
    }

    /// The report, after all films.
    /// - Throws: `Failure` if ids are taken and no policy was given.
    func finish() throws(Failure) -> Report {
        guard existing.isEmpty else {
            let names = existing.prefix(Self.idsNamed).joined(separator: ", ")
            let more = existing.count > Self.idsNamed ? " and \(existing.count - Self.idsNamed) more" : ""
            throw Failure(
                "the library has other films with these ids: \(names)\(more); nothing was imported; "
                    + "--replace replaces the library's films, --skip keeps them",
                code: "id-taken")
        }
        return report
    }

    private mutating func leaveOut(_ reason: String) {
        report.leftOut += 1
        report.warnings.append("\(reason); it is left out")
    }

    /// The film's id, or another one if the library cannot have it.
    private mutating func identifier(_ written: String, _ movie: Movie) throws(CatalogueError) -> String {
        if FilmID.fault(written) == nil {
            guard ids.insert(written).inserted else { throw .duplicateIdentifier(id: written, line: nil) }
            return written
        }
        let made = FilmID.make(title: movie.title, year: movie.year)
        var id = made
        var number = 1
        while !ids.insert(id).inserted {
            number += 1
            id = "\(made)-\(number)"
        }
        report.warnings.append(
            written.isEmpty
                ? "\"\(movie.title)\" has no id; it becomes \"\(id)\""
                : "the id \"\(written)\" must be \(FilmID.fault(written) ?? "another"); it becomes \"\(id)\"")
        return id
    }

    /// The bytes of a poster that is on this machine or in the catalogue itself. Any other address is made whole.
    private mutating func poster(
        _ address: String?, of document: inout FilmDocument, _ id: String
    ) -> PosterBytes? {
        guard let address, !address.isEmpty else { return nil }
        let url: URL
        do throws(ImageLoadingError) {
            url = try base.resolve(address)
        } catch {
            posterFailed("the poster of \"\(id)\": \(error)")
            if !base.url.isFileURL { document["poster"] = base.whole(address).map { JSONText($0) } }
            return nil
        }
        let isFile = url.scheme?.lowercased() == "file"
        /// Elsewhere a relative address would mean another file.
        func keepAddress() {
            if isFile, !isBesideList { document["poster"] = JSONText(url.absoluteString) }
        }
        guard isFile || url.scheme?.lowercased() == "data" else {
            // Readers of the library must not get the user's credentials for the catalogue's server.
            document["poster"] = base.whole(address).map { JSONText($0) }
            return nil
        }
        do throws(ImageLoadingError) {
            let bytes = try LocalContent.read(url, limit: Self.maximumPosterBytes)
            guard let format = ImageFormat(detecting: bytes.span) else {
                posterFailed("the poster of \"\(id)\" is not a picture; its address is kept")
                keepAddress()
                return nil
            }
            return PosterBytes(mediaType: format.mediaType, bytes: withoutMetadata(bytes, id))
        } catch {
            posterFailed("the poster of \"\(id)\": \(error); its address is kept")
            keepAddress()
            return nil
        }
    }

    /// Makes the addresses of a film's own file and web page whole, where the library would read them otherwise: then
    /// they have only one meaning. Leaves out what a list from the network cannot name.
    private mutating func completeAddresses(_ document: inout FilmDocument, _ movie: Movie, _ id: String) {
        for (member, address) in [(FilmMember.media, movie.media), (.page, movie.page)] {
            guard let address, !address.isEmpty, !base.url.isFileURL || member == .media && !isBesideList
            else { continue }
            let whole = base.whole(address)
            if whole == nil, base.url.isFileURL { continue }
            document[member.name] = whole.map { JSONText($0) }
            if whole == nil {
                report.warnings.append(
                    "the \(member.name) of \"\(id)\" is no address that a list from the network can name; "
                        + "it is left out")
            }
        }
    }

    private mutating func posterFailed(_ warning: String) {
        report.failedPosters += 1
        report.warnings.append(warning)
    }

    /// A poster without the metadata of cameras and editors, as a service stores it. A damaged picture, or one in
    /// another format than those that are decoded, is kept as it is.
    private mutating func withoutMetadata(_ bytes: [UInt8], _ id: String) -> [UInt8] {
        do throws(ImageDecodingError) {
            return try ImageMetadata.strip(bytes)
        } catch .unsupported {
            return bytes
        } catch {
            report.warnings.append("the poster of \"\(id)\" keeps its metadata, because it is \(error)")
            return bytes
        }
    }
}
