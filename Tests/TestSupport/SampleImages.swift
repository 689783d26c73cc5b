import FoundationEssentials

/// The smallest real images.
public enum SampleImages {
    /// A grey PNG of 2 x 3 pixels, 70 bytes.
    public static let png = decoded(
        "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAAAAACcgYFdAAAADUlEQVR42mMQUGAAIwACeQCRr7PjnAAAAABJRU5ErkJggg==")

    /// The PNG in gzip (RFC 1952).
    public static let gzip = decoded(
        "H4sIAAAAAAACA+sM8HPn5ZLiYmBg4PX0cAkC0kxAzMwBJBjmNDbGgiVcHEMqbiULBCQwKDMwVTJMXL/58RyQAk9XP5d1Tgl"
            + "NAD3nQgdGAAAA")

    /// A grey JPEG of 4 x 5 pixels, 159 bytes.
    public static let jpeg = decoded(
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1R"
            + "V19iZ2hnPk1xeXBkeFxlZ2P/wAALCAAFAAQBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAA"
            + "D/2gAIAQEAAD8AP//Z")

    /// A PNG of `count` bytes, at least 70. The bytes after its end vary and are not part of the image.
    public static func png(bytes count: Int) -> [UInt8] {
        png + variedBytes(count - png.count)
    }

    private static func decoded(_ base64: String) -> [UInt8] {
        guard let data = Data(base64Encoded: base64) else { preconditionFailure("a sample is not base64") }
        return [UInt8](data)
    }
}
