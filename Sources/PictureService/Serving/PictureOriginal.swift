package import LazyImages

/// What a picture is made of.
package enum PictureOriginal: Sendable {
    /// The picture at an address.
    /// - Parameter isSigned: whether it may be fetched only because somebody with a key vouches for it.
    case address(PictureSource, isSigned: Bool)
    /// A picture that is here, such as an uploaded poster.
    case stored(StoredOriginal)

    /// What its record is kept under.
    package var recordKey: CacheKey {
        switch self {
        case .address(let source, _): Self.recordKey(ofAddress: source)
        case .stored(let original): CacheKey(id: "\(original.name) \(original.tag)", variant: "record")
        }
    }

    static func recordKey(ofAddress source: PictureSource) -> CacheKey {
        CacheKey(url: source.url, variant: "record")
    }
}

/// A picture that is here, and how to read it.
package struct StoredOriginal: Sendable {
    /// Tells it from all others of the service.
    package let name: String
    /// Changes with the bytes.
    package let tag: String
    /// The Cache-Control of pictures of it.
    package let cacheControl: String
    /// Reads it. Blocks.
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
