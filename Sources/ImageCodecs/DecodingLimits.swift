/// How much a file may ask for. Checked against the header, before anything is allocated.
public struct DecodingLimits: Sendable, Hashable {
    /// Bytes of the file; 64 MiB unless told.
    public var inputBytes: Int
    /// Pixels along the longer side; 16,384 unless told, and never more than 65,535.
    public var side: Int
    /// Pixels in all; 40 million unless told, which decode to 160 MB and need up to thrice that meanwhile.
    public var pixels: Int
    /// Scans of a JPEG; 100 unless told. Encoders write 10, the most thorough optimisers some 20.
    public var scans: Int

    /// Makes limits; each left out has the value its property documents.
    /// - Parameters:
    ///   - inputBytes: bytes of the file.
    ///   - side: pixels along the longer side.
    ///   - pixels: pixels in all.
    ///   - scans: scans of a JPEG.
    public init(
        inputBytes: Int = 64 << 20, side: Int = 16_384, pixels: Int = 40_000_000, scans: Int = 100
    ) {
        self.inputBytes = inputBytes
        self.side = side
        self.pixels = pixels
        self.scans = scans
    }

    /// The limits used where a caller names none.
    public static let standard = DecodingLimits()

    /// Throws `tooLarge` for a file of more than ``inputBytes``.
    /// - Parameter count: the length of the file.
    public func check(inputBytes count: Int) throws(ImageDecodingError) {
        guard count <= inputBytes else { throw .tooLarge(.inputBytes, value: count, maximum: inputBytes) }
    }

    /// What no caller can raise `side` above: the longest a JPEG can have, and the most whose sums in 32 bits
    /// averaging can hold.
    private static let longestSide = 65_535

    /// Throws `tooLarge` for a picture of more than ``side`` or ``pixels``.
    /// - Parameter size: the size in the file's header.
    public func check(_ size: ImageSize) throws(ImageDecodingError) {
        let longer = max(size.width, size.height)
        let longest = min(side, Self.longestSide)
        guard longer <= longest else { throw .tooLarge(.side, value: longer, maximum: longest) }
        let area = size.width * size.height
        guard area <= pixels else { throw .tooLarge(.pixels, value: area, maximum: pixels) }
    }
}
