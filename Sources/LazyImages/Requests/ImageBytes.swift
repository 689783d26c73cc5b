import Hashing

/// The bytes of one image's file, as they arrived. Immutable, and shared without copying.
public struct ImageBytes: Sendable {
    package let source: any ByteSource

    package init(_ source: any ByteSource) { self.source = source }

    /// The bytes of an array.
    /// - Parameter bytes: the bytes, which are not copied.
    public init(_ bytes: [UInt8]) { source = ByteArray(bytes) }

    /// The number of bytes.
    public var count: Int { source.count }

    /// Calls `body` with the bytes, on the caller's thread; throws what `body` throws.
    /// - Parameter body: receives the bytes, which are valid until it returns.
    public func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try source.withBytes(body)
    }

    /// The bytes, which are copied unless they are those of an array.
    public var array: [UInt8] { (source as? ByteArray)?.bytes ?? withBytes { [UInt8](copying: $0) } }

    /// Whether other bytes are the same.
    func isSame(as other: ImageBytes) -> Bool { count == other.count && checksum == other.checksum }

    /// The SHA-256 of the bytes, 64 lower-case hexadecimal digits.
    public var checksum: String { withBytes { SHA256.hash(of: $0).hexadecimal } }
}

extension [UInt8] {
    /// A copy of the bytes of a span.
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }
}

/// An owner of bytes, in an array, a buffer or a mapped file. The bytes do not change while the object lives.
package protocol ByteSource: AnyObject, Sendable {
    /// The number of bytes.
    var count: Int { get }

    /// Calls `body` with the bytes, on the caller's thread. They are valid until it returns.
    func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result
}

/// The bytes of an array.
package final class ByteArray: ByteSource {
    let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var count: Int { bytes.count }

    package func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        let bytes = bytes
        return try body(bytes.span)
    }
}
