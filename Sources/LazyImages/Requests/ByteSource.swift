/// An owner of bytes, in an array, a buffer or a mapped file. The bytes do not change while the object lives.
package protocol ByteSource: AnyObject, Sendable {
    /// The number of bytes.
    var count: Int { get }

    /// Calls `body` with the bytes, on the caller's thread. They are valid until it returns.
    func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result
}

/// The bytes of an array.
package final class ByteArray: ByteSource {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var count: Int { bytes.count }

    package func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        let bytes = bytes
        return try body(bytes.span)
    }
}
