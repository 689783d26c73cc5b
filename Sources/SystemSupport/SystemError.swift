import Glibc

/// The system's words for the numbers its calls leave in `errno`.
package enum SystemError {
    /// Such as `No space left on device`.
    package static func text(_ number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        unsafe strerror_r(number, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
