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
