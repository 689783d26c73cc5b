import Glibc
import LazyImages
import SystemSupport

/// Reads standard input and files.
enum Input {
    /// The most bytes of an input. Catalogues and lists of addresses are smaller.
    static let limit = 64 * 1024 * 1024

    /// All of standard input: at most `limit` bytes.
    static func standard(limit: Int = limit) async throws(Failure) -> [UInt8] {
        try await reading { () throws(Failure) in
            try all(of: STDIN_FILENO, name: "standard input", limit: limit)
        }
    }

    /// The content of a file, which may be a pipe: at most `limit` bytes.
    static func file(_ path: String, limit: Int = limit) async throws(Failure) -> [UInt8] {
        try await reading { () throws(Failure) in
            let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                let code = errno
                throw Failure("\(path): \(FetchTarget.faultOfLink(path) ?? reason(code)); check the path")
            }
            defer { close(descriptor) }
            return try all(of: descriptor, name: path, limit: limit)
        }
    }

    /// The first bytes of a file, to detect its format.
    static func beginning(of path: String) throws(Failure) -> ArraySlice<UInt8> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure("\(path): \(reason(errno)); check the path") }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: 4096)
        return try some(of: descriptor, name: path, &chunk)
    }

    /// Runs `read` on a thread of its own, since a pipe may never end, and a named one may wait for its other side. If
    /// the task is cancelled, the thread stays until the program ends, which is soon.
    static func reading<Value: Sendable>(
        _ read: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (outcomes, continuation) = AsyncStream.makeStream(of: Result<Value, Failure>.self)
        do {
            try BlockingThreads.startThread {
                continuation.yield(Result { () throws(Failure) in try read() })
                continuation.finish()
            }
        } catch {
            throw Failure(error, doing: "reading")
        }
        for await outcome in outcomes { return try outcome.get() }
        throw Failure("interrupted while reading", code: "cancelled")
    }

    private static func all(
        of descriptor: Int32, name: String, limit: Int = limit
    ) throws(Failure) -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let more = try some(of: descriptor, name: name, &chunk)
            if more.isEmpty { return all }
            all += more
            guard all.count <= limit else {
                throw Failure("\(name): it is larger than \(ByteCount.text(limit)); split it")
            }
        }
    }

    /// The bytes of one read; empty at the end.
    static func some(
        of descriptor: Int32, name: String, _ chunk: inout [UInt8]
    ) throws(Failure) -> ArraySlice<UInt8> {
        while true {
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("\(name): \(reason(errno))") }
            return chunk[..<count]
        }
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT: "there is no such file"
        case EISDIR: "it is a folder; name a file in it"
        case EACCES: "you may not read it"
        default: "it cannot be read: \(SystemError.text(code))"
        }
    }
}
