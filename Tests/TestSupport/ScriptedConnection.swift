import Glibc

/// One connection of a scripted origin, on its own thread.
struct ScriptedConnection: ~Copyable {
    private let socket: Int32
    private let origin: OriginState
    private var unread: [UInt8] = []
    /// This connection's last request; the origin's record also has those of other connections.
    private var head = ""
    private var body: [UInt8] = []

    init(_ socket: Int32, of origin: OriginState) {
        self.socket = socket
        self.origin = origin
    }

    deinit { close(socket) }

    /// Performs the steps until the client or the origin ends the connection.
    consuming func play(_ steps: [ScriptedOrigin.Step]) {
        for step in steps {
            guard perform(step) else { return }
        }
    }

    /// Returns false when the script is over.
    private mutating func perform(_ step: ScriptedOrigin.Step) -> Bool {
        switch step {
        case .readHead: return readHead()
        case .readBody: return readBody()
        case .respond(let answer):
            guard readHead(), readBody() else { return false }
            let response = answer(head, body)
            return send(Array(response.utf8)) && !response.isEmpty && !response.contains("Connection: close")
        case .reply(let answer):
            guard readHead(), readBody() else { return false }
            return send(answer(head, body))
        case .replyToLast(let step):
            guard case .reply(let answer) = step else { return false }
            return send(answer(head, body))
        case .readSome(let count): return read(count) != nil
        case .send(let text): return send(Array(text.utf8))
        case .sendBytes(let bytes): return send(bytes)
        case .wait(let gate): return LoopbackSocket.wait(for: gate.descriptor, POLLIN, or: origin.stop)
        case .awaitClose:
            while receive() { unread = [] }
            return false
        case .reset:
            LoopbackSocket.resetOnClose(socket)
            return false
        case .forever(let steps):
            while true {
                for step in steps where !perform(step) { return false }
            }
        }
    }

    private mutating func readHead() -> Bool {
        while true {
            if let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) {
                head = String(decoding: unread[..<end.lowerBound], as: UTF8.self)
                unread.removeSubrange(..<end.upperBound)
                origin.record.withLock { [head] in $0.heads.append(head) }
                origin.requests.add()
                return true
            }
            guard receive() else { return false }
        }
    }

    /// Reads the body, by the Content-Length of the last head.
    private mutating func readBody() -> Bool {
        let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let count = field.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
        guard let body = read(count) else { return false }
        self.body = body
        origin.record.withLock { $0.bodies.append(body) }
        return true
    }

    /// Reads `count` bytes; nil at the end of the stream.
    private mutating func read(_ count: Int) -> [UInt8]? {
        while unread.count < count {
            guard receive() else { return nil }
        }
        defer { unread.removeFirst(count) }
        return Array(unread[..<count])
    }

    /// Reads available bytes. Returns false at the end of the stream, and counts it.
    private mutating func receive() -> Bool {
        guard LoopbackSocket.wait(for: socket, POLLIN, or: origin.stop) else { return false }
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else {
            origin.closed.add()
            return false
        }
        unread += buffer[..<count]
        return true
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard LoopbackSocket.wait(for: socket, POLLOUT, or: origin.stop) else { return false }
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, flags)
            }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else {
                origin.closed.add()
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
