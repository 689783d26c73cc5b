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

    private let head: [UInt8]
    private var sentOfHead = 0
    let body: HTTPResponse.Body
    /// Bytes of the body sent so far.
    private(set) var sentOfBody = 0
    /// Whether sendfile works for this file.
    private var usesSendfile = true

    /// Bytes of a file that one call reads if sendfile does not work.
    private static let readSize = 64 << 10

    init(head: [UInt8], body: HTTPResponse.Body) {
        self.head = head
        self.body = body
    }

    /// Sends until the client takes no more, or at most `limit` bytes of the body.
    /// - Parameter count: called with the bytes that each call to the system took.
    mutating func write(to socket: Int32, limit: Int, count: (Int) -> Void) -> Progress {
        var allowance = limit
        while sentOfHead < head.count {
            let sent = writeHead(to: socket, bodyLimit: allowance)
            guard sent > 0 else {
                if sent < 0, errno == EINTR { continue }
                return sent < 0 && errno == EAGAIN ? .blocked : .failed
            }
            let ofHead = min(sent, head.count - sentOfHead)
            sentOfHead += ofHead
            sentOfBody += sent - ofHead
            allowance -= sent - ofHead
            count(sent)
        }
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

    /// Sends the rest of the head, in one call with the first bytes of the body: the number of bytes, or -1 and errno.
    private func writeHead(to socket: Int32, bodyLimit: Int) -> Int {
        let rest = head.count - sentOfHead
        return unsafe head.withUnsafeBytes { head in
            let start = unsafe head.baseAddress.map { unsafe $0 + sentOfHead }
            guard case .bytes(let bytes) = body, !bytes.isEmpty else {
                return unsafe send(socket, start, rest, Int32(MSG_NOSIGNAL | (body.count > 0 ? MSG_MORE : 0)))
            }
            return unsafe bytes.withUnsafeBytes { body in
                unsafe csystem_send_two(socket, start, rest, body.baseAddress, min(bodyLimit, body.count))
            }
        }
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
    ///   - minorVersion: the client's version of HTTP/1. A client of 1.0 must be told that the connection stays open.
    ///   - id: the request's id; empty if the server understood no request.
    func head(date: String, keepAlive: Bool, minorVersion: Int, id: String = "") -> [UInt8] {
        var head: [UInt8] = []
        head.reserveCapacity(512)
        func add(_ text: String) { head.append(contentsOf: text.utf8) }
        add("HTTP/1.1 ")
        add(String(status.rawValue))
        add(" ")
        add(status.reason)
        add("\r\nDate: ")
        add(date)
        add("\r\n")
        head.append(contentsOf: preparedFields ?? writtenFields)
        // RFC 9110 section 8.6 forbids it in these two. Other answers have it even if their body is empty.
        if status != .noContent, status != .notModified {
            add("Content-Length: ")
            add(String(body.count))
            add("\r\n")
        }
        add("X-Content-Type-Options: nosniff\r\n")
        if !id.isEmpty {
            add("X-Request-Id: ")
            add(id)
            add("\r\n")
        }
        if !keepAlive {
            add("Connection: close\r\n")
        } else if minorVersion == 0 {
            add("Connection: keep-alive\r\n")
        }
        head.append(contentsOf: [0x0D, 0x0A])
        return head
    }
}
