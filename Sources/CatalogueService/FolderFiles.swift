import FoundationEssentials
import HTTPSemantics
import HTTPServer
import MovieCatalogue
import SystemSupport

/// Decides which files of a folder are served: catalogues and manifests, pictures, and what these name. A folder may
/// also hold scripts, settings and keys.
final class FolderFiles: Sendable {
    private let folder: CatalogueFolder
    /// The catalogue that the operator has named.
    private let catalogue: String?
    /// What each catalogue of the folder names, besides pictures, and the version that was read.
    private let named = Lock<[String: (version: FileMetadata, files: Set<RequestPath>)]>([:])

    /// The names that are a catalogue's whatever is in the file, and the page of a folder.
    private static let usualNames: Set = ["movies.json", "movies.xml", "index.html"]
    private static let catalogueEndings = [".json", ".xml", ".txt"]
    /// The bytes that tell a catalogue from another file: its members before the films are few.
    private static let beginning = 8 << 10

    init(folder: CatalogueFolder, catalogue: String?) {
        self.folder = folder
        self.catalogue = catalogue
    }

    /// Whether an open file is served; nil if the folder's catalogues must be read to know.
    func serves(_ path: RequestPath, _ file: ServedFile) -> Bool? {
        guard let last = path.names.last else { return false }
        if MediaType.isPicture(last) { return true }
        let name = String(decoding: last, as: UTF8.self)
        if path.names.count == 1, name == catalogue || Self.usualNames.contains(name) { return true }
        return Self.isCatalogue(name, file) ? true : nil
    }

    /// The catalogues and manifests directly in the folder, sorted.
    func catalogues() -> [String] {
        folder.catalogueNames().filter { name in
            // Ignored: a file that cannot be opened is not served.
            guard let file = try? folder.open([Array(name.utf8)]) else { return false }
            return serves(RequestPath(name), file) == true
        }
    }

    /// Whether a catalogue of the folder names a file. Reads the catalogues that have changed. Blocks.
    func names(_ path: RequestPath) -> Bool {
        named.withLock { named in
            var names = folder.catalogueNames()
            if let catalogue, !names.contains(catalogue) { names.append(catalogue) }
            named = named.filter { names.contains($0.key) }
            for name in names {
                // Ignored: a file that cannot be opened or read names nothing new. Nor does one that is no catalogue: its
                // words could be the names of secret files.
                guard let file = try? folder.open([Array(name.utf8)]), named[name]?.version != file.metadata,
                    named[name] != nil || serves(RequestPath(name), file) == true,
                    let bytes = try? file.contents()
                else { continue }
                // While a catalogue is broken, what it named is still served.
                let files = Self.files(namedIn: bytes) ?? named[name]?.files ?? []
                named[name] = (file.metadata, files)
            }
            return named.values.contains { $0.files.contains(path) }
        }
    }

    /// The files that a catalogue or a manifest names relative to itself, without pictures; nil if it is neither.
    private static func files(namedIn bytes: [UInt8]) -> Set<RequestPath>? {
        // Ignored: a file is often only one of the two, and perhaps neither.
        let posters = (try? Manifest(parsing: bytes))?.entries.map(\.address)
        let films = (try? Catalogue(parsing: bytes))?.movies.compactMap(\.media)
        guard posters != nil || films != nil else { return nil }
        return Set(
            ((posters ?? []) + (films ?? [])).compactMap { address in
                guard FilmRendering.isRelative(address),
                    // Ignored: an address that is no path below the folder names no file of it.
                    let path = try? RequestPath(target: "/" + PercentEncoding.visible(address)),
                    let last = path.names.last, !MediaType.isPicture(last)
                else { return nil }
                return path
            })
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
