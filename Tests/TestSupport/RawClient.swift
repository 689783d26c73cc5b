import Glibc

/// A client that sends given bytes and returns the received bytes unchanged.
package final class RawClient {
    /// One answer, as received.
    package struct Answer {
        package let status: Int
        /// The fields; names are in lower case.
        package let fields: [String: String]
        package let body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    package enum Failure: Error {
        case connect(errno: Int32)
        case noAnswer(got: String)
    }

    /// For `Polling`: readable once an answer arrives.
    package let descriptor: Int32
    private var received: [UInt8] = []
    /// Whether the connection was reset. A reset can overtake an answer and lose it.
    package private(set) var wasReset = false
    /// Whether the service has closed the connection.
    package private(set) var hasEnded = false
    private var hasWaitedTooLong = false
    /// The service, kept alive as long as the client.
    private let owner: AnyObject?
    /// The limit only ends a service that hangs: it does not measure speed.
    private static let receiveTimeout = timeval(tv_sec: 300, tv_usec: 0)

    /// Connects to a port of this machine.
    package convenience init(port: UInt16, owner: AnyObject? = nil) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try self.init(AF_INET, address, owner)
    }

    /// Connects to a Unix domain socket.
    package convenience init(path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) {
            unsafe $0.copyBytes(from: path.utf8.prefix($0.count - 1))
        }
        try self.init(AF_UNIX, address, nil)
    }

    private init<Address>(_ family: Int32, _ address: Address, _ owner: AnyObject?) throws {
        self.owner = owner
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var timeout = Self.receiveTimeout
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let failure = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard failure == 0 else {
            // The object's release closes the descriptor. A second close here could close another file.
            throw Failure.connect(errno: errno)
        }
    }

    deinit { close(descriptor) }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Bytes that a closed service does not read are ignored. Returns whether the system took all of them.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends a request with these fields and a body, and returns the answer.
    package func send(
        _ method: String, _ target: String, _ fields: [String], body: some Collection<UInt8>
    ) throws -> Answer {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Content-Length: \(body.count)"]
        send((lines + fields).joined(separator: "\r\n") + "\r\n\r\n")
        send(Array(body))
        return try answer()
    }

    /// Sends a GET with these fields and returns the answer.
    package func get(_ target: String, _ fields: String...) throws -> Answer {
        send((["GET \(target) HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
        return try answer()
    }

    /// The same once the server takes the read. On a busy machine any read may wait for longer than a short queue time.
    package func getPatiently(_ target: String) throws -> Answer {
        while true {
            let answer = try get(target)
            if answer.status != 503 { return answer }
        }
    }

    /// The next answer; `hasBody` is false for answers to HEAD.
    package func answer(hasBody: Bool = true) throws -> Answer {
        let head = try read(through: Array("\r\n\r\n".utf8))
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "),
            let status = Int(first.dropFirst(9).prefix(3))
        else {
            throw Failure.noAnswer(got: String(decoding: head, as: UTF8.self))
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let length = hasBody && status != 304 ? Int(fields["content-length"] ?? "0") ?? 0 : 0
        while received.count < length, receive() {}
        guard received.count >= length else {
            throw Failure.noAnswer(got: "\(received.count) of \(length) bytes")
        }
        let body = Array(received[..<length])
        received.removeFirst(length)
        return Answer(status: status, fields: fields, body: body)
    }

    /// Reads until the service closes.
    package func readToEnd() -> [UInt8] {
        while receive() {}
        defer { received = [] }
        return received
    }

    /// Whether the service closes without sending more.
    package func isEnded() -> Bool { readToEnd().isEmpty && !hasWaitedTooLong }

    /// Closes with a reset, which the service's next bytes meet.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Shuts down the sending side.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func read(through end: [UInt8]) throws -> [UInt8] {
        var searched = 0
        while true {
            while searched + end.count <= received.count {
                // Compares the last byte first: it differs for most bytes, which is faster than comparing
                // all.
                if received[searched + end.count - 1] == end[end.count - 1],
                    received[searched...].starts(with: end)
                {
                    defer { received.removeFirst(searched + end.count) }
                    return Array(received[..<searched])
                }
                searched += 1
            }
            guard receive() else { throw Failure.noAnswer(got: String(decoding: received, as: UTF8.self)) }
        }
    }

    private func receive() -> Bool {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            let length = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if length < 0, errno == ECONNRESET { wasReset = true }
            hasWaitedTooLong = length < 0 && errno == EAGAIN
            hasEnded = length == 0
            count = max(0, length)
        }
        received += bytes
        return !bytes.isEmpty
    }
}
