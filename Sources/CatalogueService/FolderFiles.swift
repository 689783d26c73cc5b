import CMarqueeSystem
import Films
import FoundationEssentials
import HTTPSemantics
import HTTPServer
import SystemSupport

/// Decides which files of a folder are served, whatever its films are: catalogues and manifests, and pictures. A folder may
/// also hold scripts, settings and keys.
struct FolderFiles: Sendable {
    let folder: CatalogueFolder
    /// The catalogue that the operator has named.
    let catalogue: String?

    /// The names that are a catalogue's whatever is in the file, and the page of a folder.
    private static let usualNames: Set = ["movies.json", "movies.xml", "index.html"]
    private static let catalogueEndings = [".json", ".xml", ".txt"]
    /// The bytes that tell a catalogue from another file: its members before the films are few.
    private static let beginning = 8 << 10

    /// Whether an open file is served.
    func serves(_ path: RequestPath, _ file: ServedFile) -> Bool {
        guard let last = path.names.last else { return false }
        if MediaType.isPicture(last) { return true }
        let name = String(decoding: last, as: UTF8.self)
        if path.names.count == 1, name == catalogue || Self.usualNames.contains(name) { return true }
        return Self.isCatalogue(name, file)
    }

    /// The catalogues and manifests directly in the folder, sorted.
    func catalogues() -> [String] {
        folder.catalogueNames().filter { name in
            // Ignored: a file that cannot be opened is not served.
            guard let file = try? folder.open([Array(name.utf8)]) else { return false }
            return serves(RequestPath(name), file)
        }
    }

    // MARK: Recognition

    /// Whether a file is a catalogue or a manifest, by the end of its name and its beginning.
    private static func isCatalogue(_ name: String, _ file: ServedFile) -> Bool {
        let name = name.lowercased()
        guard catalogueEndings.contains(where: { name.hasSuffix($0) }) else { return false }
        var bytes = [UInt8](repeating: 0, count: min(beginning, file.metadata.size))
        // Ignored: a file that cannot be read is not served.
        guard let count = try? FileCalls().read(file.descriptor, into: &bytes) else { return false }
        return isCatalogue(beginning: bytes[..<count], isWhole: count == file.metadata.size)
    }

    /// Whether a file that begins so is a catalogue or a manifest:
    ///
    ///     {"name": "Silents", "movies": [     [{"id": "nosferatu",     <catalogue name="Silents">
    ///     {"images": [                        ["posters/x.jpg",        posters/x.jpg  sha256:9f86d081…
    static func isCatalogue(beginning bytes: ArraySlice<UInt8>, isWhole: Bool) -> Bool {
        guard !bytes.contains(0) else { return false }
        let text = String(decoding: bytes, as: UTF8.self).drop { $0 == "\u{FEFF}" || $0.isWhitespace }
        switch text.first {
        // Settings may begin with `[section]`.
        case "[":
            return text.dropFirst().first { !$0.isWhitespace }.map { "{\"]".contains($0) } ?? false
        case "{": return ["\"movies\"", "\"images\""].contains { text.contains($0) }
        case "<":
            return text.ranges(of: "<catalogue").contains { range in
                text[range.upperBound...].first.map { $0.isWhitespace || ">/".contains($0) } ?? false
            }
        default: return isList(text, isWhole: isWhole)
        }
    }

    /// Whether all lines are addresses of pictures. Words and passwords are none.
    private static func isList(_ text: Substring, isWhole: Bool) -> Bool {
        var lines = text.split(whereSeparator: \.isNewline)
        // The last line may be cut.
        if !isWhole { lines = lines.dropLast() }
        let entries = lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.filter {
            !$0.isEmpty && !$0.hasPrefix("#")
        }
        return !entries.isEmpty
            && entries.allSatisfy { entry in
                var words = entry.split(whereSeparator: \.isWhitespace)
                if let last = words.last, words.count > 1, last.lowercased().hasPrefix("sha256:") {
                    words.removeLast()
                }
                guard let last = words.last else { return false }
                let address = last.prefix { $0 != "?" && $0 != "#" }
                return words[0].lowercased().hasPrefix("http://")
                    || words[0].lowercased().hasPrefix("https://")
                    || MediaType.isPicture(Array(address.utf8))
            }
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

    /// The names of the catalogues and manifests directly in the folder, sorted. The path `/` lists them if none of
    /// them is the catalogue.
    fileprivate func catalogueNames() -> [String] {
        // Ignored: a folder that cannot be listed, as one that has been removed, lists nothing.
        guard let names = try? FileCalls().names(in: root) else { return [] }
        return names.filter { name in
            [".json", ".xml", ".txt"].contains { name.hasSuffix($0) } && !name.hasPrefix(".")
                // Leaves out a name that would break the line, or was not UTF-8 and has been repaired.
                && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{7F}" && $0 != "\u{FFFD}" }
        }.sorted()
    }

    /// The name of the folder's catalogue, for the path `/`: `movies.json` or `movies.xml`, else the only JSON or XML
    /// file. Nil if there is none, or several.
    func catalogueName() -> String? {
        // A folder of ten thousand posters is not listed for its usual catalogue. Ignored: a name
        // that cannot be looked up is no catalogue.
        let usual = ["movies.json", "movies.xml"].first { (try? FileCalls().status(of: $0, in: root)) != nil }
        if let usual { return usual }
        let names = catalogueNames().filter { $0.hasSuffix(".json") || $0.hasSuffix(".xml") }
        return names.count == 1 ? names[0] : nil
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
        let conditions = Preconditions(
            request.fields, isRead: true, entityTag: metadata.entityTag, lastModified: metadata.seconds,
            now: now)
        var fields: HeaderFields = [
            "ETag": metadata.entityTag,
            // A date must not be later than the answer's own (RFC 9110 section 8.8.2.1).
            "Last-Modified": HTTPDate.format(min(metadata.seconds, now)),
            "Cache-Control": "max-age=\(cacheSeconds)",
        ]
        switch conditions.outcome {
        case .failed: return plain(.preconditionFailed)
        case .notModified: return HTTPResponse(status: .notModified, fields: fields)
        case .proceed: break
        }
        fields["Content-Type"] = mediaType
        return HTTPResponse(status: .ok, fields: fields, body: .file(file, 0..<metadata.size))
            .part(for: request, conditions) { plain(.rangeNotSatisfiable) }
    }
}
