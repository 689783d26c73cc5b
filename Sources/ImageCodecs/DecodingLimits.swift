/// The limits for a file, checked against its header before any allocation.
public struct DecodingLimits: Sendable, Hashable {
    /// The most bytes of the file; 64 MiB by default.
    public var inputBytes: Int
    /// The most pixels on the longer side; 16,384 by default, and never more than 65,535.
    public var side: Int
    /// The most pixels in total; 40 million by default. They decode to 160 MB and need up to three times that
    /// meanwhile.
    public var pixels: Int
    /// The most scans of a JPEG; 100 by default. Encoders write 10, the most thorough optimisers about 20.
    public var scans: Int

    /// Creates limits; each default is that of its property.
    /// - Parameters:
    ///   - inputBytes: the most bytes of the file.
    ///   - side: the most pixels on the longer side.
    ///   - pixels: the most pixels in total.
    ///   - scans: the most scans of a JPEG.
    public init(
        inputBytes: Int = 64 << 20, side: Int = 16_384, pixels: Int = 40_000_000, scans: Int = 100
    ) {
        self.inputBytes = inputBytes
        self.side = side
        self.pixels = pixels
        self.scans = scans
    }

    /// The default limits.
    public static let standard = DecodingLimits()

    /// No limits, for what allocates nothing.
    static let unlimited = DecodingLimits(inputBytes: .max, side: .max, pixels: .max, scans: .max)

    /// Throws `tooLarge` for a file of more than ``inputBytes``.
    /// - Parameter count: the length of the file, in bytes.
    public func check(inputBytes count: Int) throws(ImageDecodingError) {
        guard count <= inputBytes else { throw .tooLarge(.inputBytes, value: count, maximum: inputBytes) }
    }

    /// The upper bound of `side`: the greatest side of a JPEG, for which 32-bit sums suffice when averaging.
    private static let longestSide = 65_535

    /// Throws `tooLarge` for an image of more than ``side`` or ``pixels``.
    /// - Parameter size: the size in the file's header.
    public func check(_ size: ImageSize) throws(ImageDecodingError) {
        let longer = max(size.width, size.height)
        let longest = min(side, Self.longestSide)
        guard longer <= longest else { throw .tooLarge(.side, value: longer, maximum: longest) }
        let area = size.width * size.height
        guard area <= pixels else { throw .tooLarge(.pixels, value: area, maximum: pixels) }
    }
}
