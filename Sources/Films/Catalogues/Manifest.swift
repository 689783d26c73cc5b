/// A list of images to prefetch: addresses, each with an optional checksum.
public struct Manifest: Sendable, Hashable {
    /// One image.
    public struct Entry: Sendable, Hashable {
        /// The address as written: relative to the manifest, or absolute.
        public let address: String
        /// The SHA-256 of the image's bytes as 64 lowercase hexadecimal digits, if given.
        public let checksum: String?
        /// The line in the manifest, from 1; nil in JSON.
        public let line: Int?

        /// Creates an entry without checking it.
        public init(address: String, checksum: String? = nil, line: Int? = nil) {
            self.address = address
            self.checksum = checksum
            self.line = line
        }
    }

    /// A line or entry without a valid image. It does not affect the others.
    public struct Problem: Sendable, Hashable {
        /// The line in the manifest, from 1; nil in JSON.
        public let line: Int?
        /// The entry as written, or its name. Escape it for a terminal.
        public let text: String
        /// The error.
        public let reason: String
    }

    /// The images in the manifest's order.
    public private(set) var entries: [Entry] = []
    /// The unusable entries, in the manifest's order.
    public private(set) var problems: [Problem] = []
    /// The number of a catalogue's films that have no poster. That is no problem: there is nothing to load.
    public private(set) var filmsWithoutPoster = 0

    private static let checksumPrefix = "sha256:"
    private static let checksumDigits = 64
    /// A longer address means that the file is not a manifest; servers refuse such URLs too.
    private static let maximumAddress = 8192

    /// Creates a manifest from valid entries.
    public init(entries: [Entry]) { self.entries = entries }

    /// Reads a manifest of at most 64 MiB. Its content, not its name, decides the format:
    ///
    ///     {"images": [{"url": "posters/x.jpg", "sha256": "9f86d081…"}, "posters/y.jpg"]}
    ///
    ///     # a list: one address per line, with an optional checksum after it
    ///     posters/x.jpg  sha256:9f86d081…
    ///     https://films.example/posters/y.jpg
    ///
    /// In JSON an array alone is valid too. A catalogue counts as a manifest of its films' posters. A bad line or entry
    /// becomes a problem and does not affect the others; only an unreadable document throws.
    public init(parsing bytes: [UInt8]) throws(CatalogueError) {
        switch try Document(parsing: bytes) {
        case .xml(let root): add(try CatalogueSource(root))
        case .lines(let start): try addList(bytes, from: start)
        case .json(let root):
            if let images = try Self.images(of: root) {
                for image in images { add(image) }
            } else {
                add(try CatalogueSource(root))
            }
        }
    }

    /// The entries of a JSON manifest, or nil if the document is a catalogue.
    private static func images(of root: JSONNode) throws(CatalogueError) -> [JSONNode]? {
        if root.kind == .array {
            let elements = root.elements
            let areFilms = elements.allSatisfy { $0["url"] == nil && $0["title"] != nil }
            return !elements.isEmpty && areFilms ? nil : elements
        }
        if root["movies"]?.kind == .array { return nil }
        guard let images = root["images"], images.kind == .array else {
            throw .wrongShape(
                expected: "an array of images, or an object with \"images\" or \"movies\"", line: nil)
        }
        return images.elements
    }

    /// Adds an entry of a JSON manifest: an address, or an object with `url` and optionally `sha256`.
    private mutating func add(_ image: JSONNode) {
        guard let address = (image.kind == .object ? image["url"] : image)?.string else {
            return report(nil, "entry \(entries.count + problems.count + 1)", "has no \"url\"")
        }
        // A number has no digits to check, so it fails like an empty checksum.
        add(address: address, checksum: image["sha256"].map { $0.string ?? "" }, line: nil)
    }

    /// Adds the posters of a catalogue. Other members of a film may be invalid.
    private mutating func add(_ catalogue: CatalogueSource) {
        catalogue.forEachFilm { film in
            let movie: MovieFields
            switch film {
            case .success(let fields): movie = fields
            case .failure(let error):
                return report(nil, "entry \(entries.count + problems.count + 1)", "\(error)")
            }
            do {
                guard case .text(let poster) = try movie.value(.poster) else {
                    filmsWithoutPoster += 1
                    return
                }
                add(address: poster, checksum: nil, line: movie.line)
            } catch {
                report(movie.line, movie.label, "has a poster that is not text")
            }
        }
    }

    /// Adds a list: one address per line. Ignores blank lines and those that begin with #.
    private mutating func addList(_ bytes: [UInt8], from start: Int) throws(CatalogueError) {
        guard !bytes.contains(0) else { throw .unrecognized }
        // Trimming removes the carriage return before a line feed.
        let lines = bytes[start...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() { addLine(line, number: index + 1) }
    }

    private mutating func addLine(_ line: ArraySlice<UInt8>, number: Int) {
        guard let text = String(validating: line, as: UTF8.self) else {
            return report(number, String(decoding: line, as: UTF8.self), "is not UTF-8")
        }
        let trimmed = text.trimmed
        guard !trimmed.isEmpty, !trimmed.hasPrefix("#") else { return }
        let words = trimmed.split(whereSeparator: \.isWhitespace)
        guard let last = words.last, words.count > 1, last.lowercased().hasPrefix(Self.checksumPrefix) else {
            return add(address: trimmed, checksum: nil, line: number)
        }
        add(
            address: String(trimmed[..<last.startIndex]),
            checksum: String(last.dropFirst(Self.checksumPrefix.count)),
            line: number)
    }

    private mutating func add(address: String, checksum: String?, line: Int?) {
        let address = address.trimmed
        guard !address.isEmpty else { return report(line, address, "is an empty address") }
        guard address.utf8.count <= Self.maximumAddress else {
            return report(
                line, String(address.prefix(80)) + "…", "is longer than \(Self.maximumAddress) bytes")
        }
        guard !address.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return report(line, address, "has a control character in its address")
        }
        if let checksum,
            checksum.utf8.count != Self.checksumDigits
                || !checksum.allSatisfy({ $0.isASCII && $0.isHexDigit })
        {
            return report(
                line, address, "has a checksum that is not \(Self.checksumDigits) hexadecimal digits")
        }
        entries.append(Entry(address: address, checksum: checksum?.lowercased(), line: line))
    }

    private mutating func report(_ line: Int?, _ text: String, _ reason: String) {
        problems.append(Problem(line: line, text: text, reason: reason))
    }
}
