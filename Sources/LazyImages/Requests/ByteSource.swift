/// Bytes that somebody owns and lends, wherever they are: in an array, in a buffer, in a mapped file. They do not
/// change while the object lives.
package protocol ByteSource: AnyObject, Sendable {
    /// How many bytes there are.
    var count: Int { get }

    /// Lends the bytes for the time of the call, on the caller's thread.
    func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result
}

/// The plainest source: an array.
package final class ByteArray: ByteSource {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var count: Int { bytes.count }

    package func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        let bytes = bytes
        return try body(bytes.span)
    }
}
