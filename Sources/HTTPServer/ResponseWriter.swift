import CSystem
import Glibc
import HTTPSemantics

/// An answer on its way to a client: its head, then its body.
struct ResponseWriter {
    enum Progress {
        /// All is with the system.
        case done
        /// The client takes nothing at the moment.
        case blocked
        /// As much was sent as was asked for.
        case partial
        /// The client is gone, or the file has become shorter and the promised length cannot be kept.
        case failed
    }

    /// The head, and a body that is short.
    private var start: [UInt8]
    private var sentOfStart = 0
    private var body: HTTPResponse.Body
    /// Bytes of the body that are sent.
    private(set) var sentOfBody = 0
    /// Whether the file's system knows sendfile.
    private var usesSendfile = true

    /// A body up to this size is copied behind its head, so that one call sends both.
    private static let joinedBody = 16 << 10
    /// Bytes of a file that are read at once where sendfile does not work.
    private static let readSize = 64 << 10

    init(head: [UInt8], body: HTTPResponse.Body) {
        start = head
        self.body = body
        if case .bytes(let bytes) = body, bytes.count <= Self.joinedBody {
            start += bytes
            self.body = .none
        }
    }

    /// Sends until `limit` bytes of the body are gone, or the client takes no more.
    /// - Parameter count: is told of the bytes that each call took.
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

    /// Sends some of the body: how many bytes, 0 where the file has ended, or -1 and errno.
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
    ///   - minorVersion: the client's version of HTTP/1, which may need to be told that it stays open.
    func head(date: String, keepAlive: Bool, minorVersion: Int) -> [UInt8] {
        var head: [UInt8] = []
        head.reserveCapacity(512)
        func line(_ parts: String...) {
            for part in parts { head.append(contentsOf: part.utf8) }
            head.append(contentsOf: [0x0D, 0x0A])
        }
        line("HTTP/1.1 \(status.rawValue) ", status.reason)
        line("Date: ", date)
        for field in fields.fields { line(field.name, ": ", field.value) }
        // RFC 9110 section 8.6: neither of these may have one. Another answer without a body says so.
        if status != .noContent, status != .notModified { line("Content-Length: \(body.count)") }
        line("X-Content-Type-Options: nosniff")
        if !keepAlive {
            line("Connection: close")
        } else if minorVersion == 0 {
            line("Connection: keep-alive")
        }
        head.append(contentsOf: [0x0D, 0x0A])
        return head
    }
}
