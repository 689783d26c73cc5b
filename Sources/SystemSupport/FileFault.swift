internal import Glibc

/// A call of the system that failed, and on what.
package struct FileFault: Error, Sendable {
    package let kind: FileCalls.Kind
    /// The path, or the name in the cache folder; empty where only the descriptor was known.
    package let name: String
    /// The system's `errno`.
    package let code: Int32
    /// What there is to say beyond the system's own words for the code.
    package let detail: String?

    package init(kind: FileCalls.Kind, name: String, code: Int32, detail: String? = nil) {
        self.kind = kind
        self.name = name
        self.code = code
        self.detail = detail
    }

    /// Whether something was not there.
    package var isAbsence: Bool { code == ENOENT }

    /// Whether somebody else has it locked.
    package var isContention: Bool { kind == .lock && code == EWOULDBLOCK }

    /// One line for people: what was tried, on what, and why it failed.
    package var explanation: String {
        "cannot \(kind.rawValue) \(name.isEmpty ? "a file" : name): \(detail ?? SystemError.text(code))"
    }
}
