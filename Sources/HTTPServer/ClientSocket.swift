import CMarqueeSystem
import SystemSupport

/// One client's socket. epoll reports an edge once, so the socket remembers it until a call has used it up.
struct ClientSocket {
    /// The result of one read.
    enum Received {
        /// So many bytes.
        case bytes(Int)
        /// No bytes until epoll reports the next edge.
        case nothingYet
        /// The client has ended, or the connection has failed.
        case ended
    }

    let descriptor: Int32
    private(set) var isReadable = true
    /// Whether the system may take bytes to send. Set it to false when a call would have blocked.
    var isWritable = true
    /// Whether the client has closed its side.
    private(set) var hasClientEnded = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Makes calls return instead of waiting.
    func configure() {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        // An answer's last bytes must not wait for the acknowledgement of the ones before. Local sockets lack this
        // option.
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Remembers the edges that epoll reports.
    mutating func record(_ events: UInt32) {
        if events & EPOLLRDHUP.rawValue != 0 { hasClientEnded = true }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { isReadable = true }
        if events & EPOLLOUT.rawValue != 0 { isWritable = true }
    }

    /// Lets the next read try the socket, because a request may have come that epoll has not reported yet.
    mutating func recheckInput() { isReadable = true }

    /// Reads into `buffer` from its beginning.
    mutating func read(into buffer: inout [UInt8]) -> Received {
        let size = buffer.count
        while true {
            let count = unsafe recv(descriptor, &buffer, size, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                isReadable = false
                return .nothingYet
            }
            guard count > 0 else { return .ended }
            // The socket is empty, and epoll reports what comes next. It reports the client's end only once, which may
            // be past: then the next read must meet it.
            if count < size, !hasClientEnded { isReadable = false }
            return .bytes(count)
        }
    }

    /// Looks whether the client has ended: epoll may report it only later.
    mutating func lookForEnd() {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK))
        if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { hasClientEnded = true }
    }

    /// Sends a few bytes at once. Whether the system took all of them.
    func sendWhole(_ bytes: [UInt8]) -> Bool {
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        return sent == bytes.count
    }

    /// Ends the sending side. Whether the connection was still there.
    func endSending() -> Bool { shutdown(descriptor, Int32(SHUT_WR)) == 0 }

    func close() { Glibc.close(descriptor) }
}
