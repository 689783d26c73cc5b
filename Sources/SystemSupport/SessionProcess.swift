internal import CMarqueeSystem

/// Starts programs that continue after this one ends.
package enum SessionProcess {
    /// Starts a program as the leader of a new session, in the folder `/`, with default signal handling. It inherits
    /// only the given descriptors, as its 0, 1, 2, ... While this process lives, a thread reaps the program, so that no
    /// zombie stays.
    /// - Throws: a fault with the program's path and the system's `errno`.
    package static func start(
        _ path: String, _ arguments: [String], environment: [String: String], descriptors: [Int32]
    ) throws(FileFault) {
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        let process = unsafe csystem_spawn_session(
            path, words, variables, descriptors, Int32(descriptors.count))
        guard process > 0 else {
            throw FileFault(kind: .open, name: path, code: errno, detail: nil)
        }
        // Ignored: without the thread the zombie stays until this process ends, and nothing else
        // changes.
        try? BlockingThreads.startThread(name: "LazyImages.reap") { csystem_reap(process) }
    }

    /// A pair of connected sockets. A program inherits one only if it is named to `start`.
    package static func socketPair() throws(ResourceShortage) -> (own: Int32, other: Int32) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ResourceShortage(missing: .descriptor, code: errno)
        }
        return (ends[0], ends[1])
    }

    /// Sends all bytes, then shuts down this direction; false if the peer is gone. Blocks.
    package static func sendAll(_ bytes: [UInt8], to line: borrowing Descriptor) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let number = line.number
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return shutdown(line.number, Int32(SHUT_WR)) == 0
    }

    /// Reads all bytes up to the end of file. Blocks.
    package static func receiveAll(_ line: borrowing Descriptor) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe recv(line.number, &part, part.count, 0)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes }
            bytes += part[..<count]
        }
    }

    /// Redirects standard output and standard error to `file`.
    package static func redirectOutput(_ file: borrowing Descriptor) {
        for stream in [STDOUT_FILENO, STDERR_FILENO] { dup2(file.number, stream) }
    }
}
