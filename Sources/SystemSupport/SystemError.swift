/// The system's texts for the values of `errno`.
package enum SystemError {
    /// Such as `No space left on device`.
    package static func text(_ number: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        unsafe strerror_r(number, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SystemError {
    /// The text for a path that cannot be opened. Of a symbolic link it says whether only the file is missing.
    /// - Parameter path: need not be UTF-8.
    package static func text(_ number: Int32, ofPath path: [UInt8]) -> String {
        var status = stat()
        let terminated = (path + [0]).map { CChar(bitPattern: $0) }
        guard number == ENOENT, unsafe lstat(terminated, &status) == 0, status.st_mode & S_IFMT == S_IFLNK
        else { return text(number) }
        return "it is a symbolic link to a file that is missing"
    }
}

/// The system has run out of a resource, for now: a later attempt may succeed.
package struct ResourceShortage: Error, Sendable, Hashable {
    /// The missing resource.
    package enum Resource: String, Sendable {
        case thread, descriptor, memory
    }

    package let missing: Resource
    /// The system's `errno`.
    package let code: Int32

    package init(missing: Resource, code: Int32) {
        self.missing = missing
        self.code = code
    }

    /// The shortage that an `errno` stands for; nil for any other error.
    package init?(code: Int32) {
        switch code {
        case EMFILE, ENFILE: missing = .descriptor
        case ENOMEM, ENOBUFS: missing = .memory
        default: return nil
        }
        self.code = code
    }
}

extension ResourceShortage: CustomStringConvertible {
    /// Such as `the system gives no thread: Resource temporarily unavailable`.
    package var description: String {
        "the system gives no \(missing.rawValue): \(SystemError.text(code))"
    }
}
