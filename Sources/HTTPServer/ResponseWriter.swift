import CSystem
import Glibc
import HTTPSemantics

/// Sends an answer to a client: its head, then its body.
struct ResponseWriter {
    enum Progress {
        /// The system has taken everything.
        case done
        /// The client takes no more bytes at the moment.
        case blocked
        /// The call has sent as many bytes as it may.
        case partial
        /// The client is gone; or the file is shorter than the promised length.
        case failed
    }

    /// The head, with a short body behind it.
    private var start: [UInt8]
    private var sentOfStart = 0
    private var body: HTTPResponse.Body
    /// Bytes of the body sent so far.
    private(set) var sentOfBody = 0
    /// Whether sendfile works for this file.
    private var usesSendfile = true

    /// A body of at most this size is copied behind its head, so that one call sends both.
    private static let joinedBody = 16 << 10
    /// Bytes of a file that one call reads if sendfile does not work.
    private static let readSize = 64 << 10

    init(head: [UInt8], body: HTTPResponse.Body) {
        start = head
        self.body = body
        if case .bytes(let bytes) = body, bytes.count <= Self.joinedBody {
            start += bytes
            self.body = .none
        }
    }

    /// Sends until the client takes no more, or at most `limit` bytes of the body.
    /// - Parameter count: called with the bytes that each call to the system took.
    mutating func write(to socket: Int32, limit: Int, count: (Int) -> Void) -> Progress {
        while sentOfStart < start.count {
            let flags = Int32(MSG_NOSIGNAL | (body.count > 0 ? MSG_MORE : 0))
            let sent = unsafe start[sentOfStart...].withUnsafeBytes {
                unsafe send(socket, $0.baseAddress, $0.count, flags)
            }
            guard sent > 0 else {
                if sent < 0, errno == EINTR { continue }
                return sent < 0 && errno == EAGAIN ? .blocked : .failed
            }
            sentOfStart += sent
            count(sent)
        }
        var allowance = limit
        while sentOfBody < body.count {
            guard allowance > 0 else { return .partial }
            let sent = writeBody(to: socket, atMost: min(allowance, body.count - sentOfBody))
            guard sent > 0 else {
                if sent < 0, errno == EINTR { continue }
                return sent < 0 && errno == EAGAIN ? .blocked : .failed
            }
            sentOfBody += sent
            allowance -= sent
            count(sent)
        }
        return .done
    }

    /// Sends some of the body: the number of bytes, 0 at the end of the file, or -1 and errno.
    private mutating func writeBody(to socket: Int32, atMost limit: Int) -> Int {
        switch body {
        case .none: return 0
        case .bytes(let bytes):
            return unsafe bytes[sentOfBody...].withUnsafeBytes {
                unsafe send(socket, $0.baseAddress, min(limit, $0.count), Int32(MSG_NOSIGNAL))
            }
        case .file(let file, let part):
            var offset = off_t(part.lowerBound + sentOfBody)
            if usesSendfile {
                let sent = unsafe sendfile(socket, file.descriptor, &offset, limit)
                guard sent < 0, errno == EINVAL || errno == ENOSYS else { return sent }
                usesSendfile = false
            }
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: min(limit, Self.readSize)) {
                buffer, filled in
                filled = max(0, unsafe pread(file.descriptor, buffer.baseAddress, buffer.count, offset))
            }
            guard !bytes.isEmpty else { return 0 }
            return unsafe bytes.withUnsafeBytes {
                unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
        }
    }
}

extension HTTPResponse {
    /// The bytes of the head, blank line included.
    /// - Parameters:
    ///   - date: the value of the field Date.
    ///   - keepAlive: whether the connection stays open after the answer.
    /// - minorVersion: the client's version of HTTP/1. A client of 1.0 must be told that the connection stays open.
    /// - id: the request's id; empty if the server understood no request.
    func head(date: String, keepAlive: Bool, minorVersion: Int, id: String = "") -> [UInt8] {
        var head: [UInt8] = []
        head.reserveCapacity(512)
        func line(_ parts: String...) {
            for part in parts { head.append(contentsOf: part.utf8) }
            head.append(contentsOf: [0x0D, 0x0A])
        }
        line("HTTP/1.1 \(status.rawValue) ", status.reason)
        line("Date: ", date)
        for field in fields.fields { line(field.name, ": ", field.value) }
        // RFC 9110 section 8.6 forbids it in these two. Other answers have it even if their body is empty.
        if status != .noContent, status != .notModified { line("Content-Length: \(body.count)") }
        line("X-Content-Type-Options: nosniff")
        if !id.isEmpty { line("X-Request-Id: ", id) }
        if !keepAlive {
            line("Connection: close")
        } else if minorVersion == 0 {
            line("Connection: keep-alive")
        }
        head.append(contentsOf: [0x0D, 0x0A])
        return head
    }
}
