package import LazyImages

/// The source of a picture.
package enum PictureOriginal: Sendable {
    /// The picture at an address.
    /// - Parameter isSigned: whether only the signature allows fetching it.
    case address(PictureSource, isSigned: Bool)
    /// A picture of the service itself, such as an uploaded poster.
    case stored(StoredOriginal)

    /// The key that the source's record is stored under.
    package var recordKey: CacheKey {
        switch self {
        case .address(let source, _): Self.recordKey(ofAddress: source)
        case .stored(let original): CacheKey(id: "\(original.name) \(original.tag)", variant: "record")
        }
    }

    /// Whether the shared tier may have it. The names of this machine's own pictures mean other pictures elsewhere.
    var isShared: Bool { if case .address = self { true } else { false } }

    static func recordKey(ofAddress source: PictureSource) -> CacheKey {
        CacheKey(url: source.url, variant: "record")
    }
}

/// A picture of the service itself, and how to read it.
package struct StoredOriginal: Sendable {
    /// A name that is unique in the service.
    package let name: String
    /// A tag that changes with the bytes.
    package let tag: String
    /// The Cache-Control of pictures of it.
    package let cacheControl: String
    /// Reads the bytes. Blocks.
    package let read: @Sendable () throws -> [UInt8]

    package init(
        name: String, tag: String, cacheControl: String, read: @escaping @Sendable () throws -> [UInt8]
    ) {
        self.name = name
        self.tag = tag
        self.cacheControl = cacheControl
        self.read = read
    }
}
