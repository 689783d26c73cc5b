import Glibc
import Synchronization

/// Gives each request an id, which the log and the answer's X-Request-Id repeat.
///
///     X-Request-Id: 5f1c2a00000012b        a random prefix of the server, then a running number
///
/// A client or a proxy may send an id of its own.
final class RequestIDs: Sendable {
    /// Tells the ids of this server from those of others.
    private let prefix = UInt64.random(in: 0..<1 << 24) << RequestIDs.numberBits
    private let number = Atomic<UInt64>(0)

    /// 15 hexadecimal digits: a Swift string of so many bytes needs no memory of its own.
    private static let digits = 15
    private static let numberBits: UInt64 = 36
    /// The most bytes of a client's own id.
    private static let longest = 128

    /// The request's own X-Request-Id, if it can stand in a log, else a new id.
    func id(of head: RequestHead) -> String {
        if let own = head.value(of: "x-request-id"), Self.isUsable(own) { return own }
        return next()
    }

    private func next() -> String {
        let number = number.wrappingAdd(1, ordering: .relaxed).oldValue & (1 << Self.numberBits - 1)
        let bits = prefix | number
        return unsafe String(unsafeUninitializedCapacity: Self.digits) { buffer in
            for index in 0..<Self.digits {
                let digit = UInt8(bits >> (4 * UInt64(Self.digits - 1 - index)) & 0xF)
                unsafe buffer[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return Self.digits
        }
    }

    /// Whether an id has 1 to 128 visible ASCII characters without quotes and backslashes, so that it can stand in a
    /// log, a header field and a page as it is.
    private static func isUsable(_ id: String) -> Bool {
        (1...longest).contains(id.utf8.count)
            && id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"'\\".utf8.contains($0) }
    }
}
