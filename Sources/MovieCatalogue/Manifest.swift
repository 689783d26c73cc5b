/// What to fetch ahead of time: addresses of images, each with a checksum where one is known.
public struct Manifest: Sendable, Hashable {
    /// One image.
    public struct Entry: Sendable, Hashable {
        /// The address as written: relative to the manifest, or absolute.
        public let address: String
        /// The SHA-256 of the image's bytes as 64 lowercase hexadecimal digits, if given.
        public let checksum: String?
        /// The line of the manifest it stands on, from 1; nil in JSON.
        public let line: Int?

        /// Makes an entry; nothing is checked.
        public init(address: String, checksum: String? = nil, line: Int? = nil) {
            self.address = address
            self.checksum = checksum
            self.line = line
        }
    }

    /// One line or entry that names no image. The others are unharmed.
    public struct Problem: Sendable, Hashable {
        /// The line of the manifest, from 1; nil in JSON.
        public let line: Int?
        /// The entry as written, or what it is about; never safe for a terminal as it is.
        public let text: String
        /// What is wrong with it.
        public let reason: String
    }

    /// The images in the manifest's order.
    public let entries: [Entry]
    /// What could not be used, in the manifest's order.
    public let problems: [Problem]

    /// Makes a manifest of entries that are known to be right.
    public init(entries: [Entry]) {
        self.entries = entries
        problems = []
    }

    /// Reads a manifest of at most 64 MiB; its content tells which form it has, never its name:
    ///
    ///     {"images": [{"url": "posters/x.jpg", "sha256": "9f86d081…"}, "posters/y.jpg"]}
    ///
    ///     # a list: an address a line, and a checksum after it where one is known
    ///     posters/x.jpg  sha256:9f86d081…
    ///     https://films.example/posters/y.jpg
    ///
    /// In JSON a bare array does as well. A catalogue is a manifest too: of the posters of its films. One bad
    /// line or entry becomes a problem and never stops the rest; throws only what makes the whole unreadable.
    public init(parsing bytes: [UInt8]) throws(CatalogueError) {
        var reader = ManifestReader()
        switch try Document(parsing: bytes) {
        case .xml(let root): try reader.add(try CatalogueSource(root))
        case .lines(let start): try reader.addList(bytes, from: start)
        case .json(let root):
            if let images = try ManifestReader.images(of: root) {
                for image in images { reader.add(image) }
            } else {
                try reader.add(try CatalogueSource(root))
            }
        }
        entries = reader.entries
        problems = reader.problems
    }
}

/// Gathers the entries of a manifest and what is wrong with the others.
struct ManifestReader {
    private(set) var entries: [Manifest.Entry] = []
    private(set) var problems: [Manifest.Problem] = []

    private static let checksumPrefix = "sha256:"
    private static let checksumDigits = 64
    /// Addresses beyond this are a file that is no manifest; servers refuse them too.
    private static let maximumAddress = 8192

    /// The entries of a JSON manifest, or nil if the document is a catalogue.
    static func images(of root: JSONDocument) throws(CatalogueError) -> [JSONDocument.Entry]? {
        if let elements = try root.elements?.all() {
            return !elements.isEmpty && elements.allSatisfy(\.isFilm) ? nil : elements
        }
        if root.movies != nil { return nil }
        guard let images = root.images else {
            throw .wrongShape(
                expected: "an array of images, or an object with \"images\" or \"movies\"", line: nil)
        }
        return try images.all()
    }

    /// An entry of a JSON manifest: an address, or an object with `url` and perhaps `sha256`.
    mutating func add(_ image: JSONDocument.Entry) {
        switch image {
        case .text(let address): add(address: address, checksum: nil, line: nil)
        case .object(let values): add(values)
        case .other: reportWithoutAddress()
        }
    }

    private mutating func add(_ image: MovieFields.Values) {
        guard case .text(let address) = image[.url] else { return reportWithoutAddress() }
        switch image[.sha256] {
        case nil: add(address: address, checksum: nil, line: nil)
        case .text(let digits): add(address: address, checksum: digits, line: nil)
        // A number has no digits of its own to check, so it fails as an empty checksum does.
        case .number, .texts, .other: add(address: address, checksum: "", line: nil)
        }
    }

    private mutating func reportWithoutAddress() {
        report(nil, "entry \(entries.count + problems.count + 1)", "has no \"url\"")
    }

    /// The posters of a catalogue. Only what concerns the poster must be right.
    mutating func add(_ catalogue: CatalogueSource) throws(CatalogueError) {
        try catalogue.forEachFilm { film throws(CatalogueError) in
            let movie: MovieFields
            switch film {
            case .success(let fields): movie = fields
            case .failure(let error):
                return report(nil, "entry \(entries.count + problems.count + 1)", "\(error)")
            }
            do {
                guard let poster = try movie.text(.poster) else {
                    return report(movie.line, movie.label, "has no poster")
                }
                add(address: poster, checksum: nil, line: movie.line)
            } catch {
                report(movie.line, movie.label, "has a poster that is no text")
            }
        }
    }

    /// A list: an address a line, blank lines and lines that begin with # apart.
    mutating func addList(_ bytes: [UInt8], from start: Int) throws(CatalogueError) {
        guard !bytes.contains(0) else { throw .unrecognised }
        // The carriage return before a line feed is white space at the end of an address, and falls away there.
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
        entries.append(Manifest.Entry(address: address, checksum: checksum?.lowercased(), line: line))
    }

    private mutating func report(_ line: Int?, _ text: String, _ reason: String) {
        problems.append(Manifest.Problem(line: line, text: text, reason: reason))
    }
}
