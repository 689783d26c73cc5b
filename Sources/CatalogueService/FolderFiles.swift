import CMarqueeSystem
import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import HTTPServer
import ServiceOperations
import SystemSupport

/// The films of a served folder: those of its catalogue, or those that are in it. Films and pictures alone are served: a
/// folder may also hold scripts, settings and keys.
final class FolderFilms: Sendable {
    let folder: CatalogueFolder
    /// The catalogue that the operator has named.
    private let named: String?
    /// The films in the folder, for one without a catalogue.
    private let files: FilmFolder?
    /// How often the folder has changed; it counts only for its films.
    private let changes = Counter()
    private let watch: FolderWatch?
    private let parse: Parser

    /// Parses a catalogue's bytes, with the name of its file, and says why it leaves out films. Tests pass
    /// one that waits.
    typealias Parser =
        @Sendable (_ bytes: [UInt8], _ name: String) throws -> (FilmLibrary, [CatalogueError])

    /// The films as they are at one time.
    struct Version: Equatable {
        let name: String
        /// Of the catalogue's file; nil for the films in the folder.
        var metadata: FileMetadata?
        /// How often the folder has changed.
        var changes = 0
    }

    /// What a reading gave.
    struct Reading {
        /// Nil if there are no films.
        var version: Version?
        var films: Result<(library: FilmLibrary, problems: [CatalogueError]), any Error>?
    }

    /// The files that are served whatever the films name: usual names of catalogues and lists of pictures, and a page.
    private static let usualNames: Set = [
        "movies.json", "movies.xml", "manifest.json", "manifest.txt", "index.html",
    ]

    init(
        _ folder: CatalogueFolder, catalogue: String? = nil, files: FilmFolder? = nil,
        parse: @escaping Parser = { try FilmLibrary.inMemory(parsing: $0, path: $1) }
    ) {
        (self.folder, named, self.files, self.parse) = (folder, catalogue, files, parse)
        // Ignored: without a descriptor the folder's films stay as they are.
        watch = files.flatMap { [changes] files in try? FolderWatch(files.path) { changes.add() } }
    }

    /// The name of the file at `/`; nil if there is none, or several.
    var catalogueName: String? { named ?? folder.catalogueName() }

    /// The present version; nil if there are no films.
    var version: Version? { source?.version }

    /// Reads the films. Blocks.
    func read() -> Reading {
        guard let source else { return Reading() }
        return Reading(version: source.version, films: Result { try source.films() })
    }

    private var source: (version: Version, films: () throws -> (FilmLibrary, [CatalogueError]))? {
        if let files {
            let version = Version(name: files.path, changes: changes.value)
            return (version, { try FilmLibrary.inMemory(files) })
        }
        // Ignored: a file that has gone is no catalogue.
        guard let name = catalogueName, let file = try? folder.open([Array(name.utf8)]) else { return nil }
        return (
            Version(name: name, metadata: file.metadata),
            { [parse] in try parse(try file.contents(), name) }
        )
    }

    // MARK: Files

    /// Whether a file is served whatever the films name.
    func serves(_ path: RequestPath) -> Bool {
        guard let last = path.names.last else { return false }
        let name = String(decoding: last, as: UTF8.self)
        if MediaType.isPicture(last) || files != nil && FilmFolder.isVideo(name) { return true }
        return path.names.count == 1 && (Self.usualNames.contains(name) || name == catalogueName)
    }

    /// The files that the films of a catalogue name, relative to it. None of a folder of films.
    func files(namedIn library: FilmLibrary) -> Set<RequestPath> {
        var paths: Set<RequestPath> = []
        guard files == nil else { return [] }
        // Ignored: a library in memory is readable.
        try? library.forEach { film in
            for member in [FilmMember.poster, .media] {
                guard let address = film.document[member.name]?.string, FilmRendering.isRelative(address),
                    // Ignored: an address that is no path below the folder names no file of it.
                    let path = try? RequestPath(relative: address)
                else { continue }
                paths.insert(path)
            }
            return true
        }
        return paths
    }
}

/// The served folder. Files are opened from its descriptor, name by name, and links are followed only if the operator says
/// so. Otherwise no request can reach a file outside it, even while someone changes the folder.
final class CatalogueFolder: Sendable {
    enum Failure: Error {
        /// No such file, or a file that is not served: a folder, a link, a pipe, an unreadable file.
        case notFound
        /// The system has no descriptor or memory left.
        case exhausted
    }

    private let root: Descriptor
    private let followsLinks: Bool

    /// Opens a folder; the path itself may contain links.
    init(path: String, followsLinks: Bool = false) throws(CatalogueServiceError) {
        self.followsLinks = followsLinks
        let number = unsafe csystem_open(path, O_RDONLY | O_DIRECTORY, 0)
        guard number >= 0 else { throw .folder(path: path, errno: errno) }
        root = Descriptor(number)
    }

    /// Opens the regular file at `names`. They are plain names: no separator, no NUL, not hidden.
    func open(_ names: [[UInt8]]) throws(Failure) -> ServedFile {
        guard let last = names.last else { throw .notFound }
        var folder = root.number
        defer { if folder != root.number { close(folder) } }
        for name in names.dropLast() {
            let next = openEntry(of: folder, name, O_RDONLY | O_DIRECTORY)
            guard next >= 0 else { throw Self.failure(errno) }
            if folder != root.number { close(folder) }
            folder = next
        }
        // Without it, opening a pipe would wait for a writer.
        let descriptor = openEntry(of: folder, last, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        guard let file = ServedFile(owning: Descriptor(descriptor)) else { throw .notFound }
        return file
    }

    /// The name of the folder's catalogue, for the path `/`: `movies.json` or `movies.xml`, else the only JSON or XML
    /// file. Nil if there is none, or several.
    func catalogueName() -> String? {
        // A folder of ten thousand posters is not listed for its usual catalogue. Ignored: a name
        // that cannot be looked up is no catalogue.
        let usual = ["movies.json", "movies.xml"].first { (try? FileCalls().status(of: $0, in: root)) != nil }
        if let usual { return usual }
        // Ignored: a folder that cannot be listed, as one that has been removed, has no catalogue.
        let names = (try? FileCalls().names(in: root)) ?? []
        let catalogues = names.filter { name in
            !name.hasPrefix(".") && (name.hasSuffix(".json") || name.hasSuffix(".xml"))
        }
        return catalogues.count == 1 ? catalogues[0] : nil
    }

    private func openEntry(of folder: Int32, _ name: [UInt8], _ flags: Int32) -> Int32 {
        let terminated = name.map(CChar.init(bitPattern:)) + [0]
        return unsafe openat(folder, terminated, flags | (followsLinks ? 0 : O_NOFOLLOW) | O_CLOEXEC)
    }

    private static func failure(_ errno: Int32) -> Failure {
        [EMFILE, ENFILE, ENOMEM].contains(errno) ? .exhausted : .notFound
    }
}

/// The file that a request's target names, as plain names below the folder.
///
/// Decoded exactly once. A name that could lead out of the folder, or that systems understand differently, is refused
/// and never repaired.
struct RequestPath: Hashable, Sendable {
    /// The bytes of each name; empty for the folder itself.
    let names: [[UInt8]]

    enum Refusal: Error, Hashable {
        /// Not a path: bad encoding, NUL, `..`, a backslash, a slash within a name.
        case malformed
        /// A path that names no served file: a hidden file, a folder, an empty name.
        case notServed
    }

    /// The most names of a path. Catalogues have fewer; each level costs a system call.
    private static let maximumDepth = 16

    /// Reads the path of a target. The query is ignored.
    init(_ target: RequestTarget) throws(Refusal) {
        // `*` names no file.
        if target.path.isEmpty, target.segments.isEmpty { throw .malformed }
        try self.init(target.path)
    }

    /// Reads an address relative to the folder.
    init(relative address: String) throws(Refusal) {
        // Ignored: every reason is the same refusal.
        guard let parts = try? RequestTarget.Parts("/" + PercentEncoding.visible(address)) else {
            throw .malformed
        }
        try self.init(parts.path)
    }

    private init(_ path: ArraySlice<UInt8>) throws(Refusal) {
        let pieces = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard pieces != [[]], !pieces.isEmpty else {
            names = []
            return
        }
        names = try pieces.map(Self.decoded)
        guard names.count <= Self.maximumDepth,
            names.allSatisfy({ !$0.isEmpty && $0.first != UInt8(ascii: ".") })
        else { throw .notServed }
    }

    /// A file directly in the folder.
    init(_ name: String) { names = [Array(name.utf8)] }

    private static func decoded(_ piece: ArraySlice<UInt8>) throws(Refusal) -> [UInt8] {
        guard let name = PercentEncoding.decoded(piece) else { throw .malformed }
        let forbidden: [UInt8] = [0, UInt8(ascii: "/"), UInt8(ascii: "\\")]
        guard name != Array("..".utf8), !name.contains(where: forbidden.contains) else { throw .malformed }
        return name
    }
}

extension HTTPResponse {
    /// The answer to GET or HEAD of a file. `cacheSeconds` is its freshness lifetime.
    static func serving(
        _ file: ServedFile, mediaType: String, to request: RequestHead, cacheSeconds: Int, now: Int
    ) -> HTTPResponse {
        let metadata = file.metadata
        return HTTPResponse(
            status: .ok,
            fields: [
                "ETag": metadata.entityTag,
                // A date must not be later than the answer's own (RFC 9110 section 8.8.2.1).
                "Last-Modified": HTTPDate.format(min(metadata.seconds, now)),
                "Cache-Control": "max-age=\(cacheSeconds)", "Content-Type": mediaType,
                "Accept-Ranges": "bytes",
            ], body: .file(file, 0..<metadata.size)
        ).answer(to: request, now: now) { plain($0) }
    }
}
