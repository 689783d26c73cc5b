import CMarqueeSystem
import HTTPSemantics
import Synchronization
import SystemSupport

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
        while sentOfHead < head.count || sentOfBody < body.count {
            let isHead = sentOfHead < head.count
            guard isHead || allowance > 0 else { return .partial }
            let sent =
                isHead
                ? writeHead(to: socket, bodyLimit: allowance)
                : writeBody(to: socket, atMost: min(allowance, body.count - sentOfBody))
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
                let sent = unsafe sendfile(socket, file.descriptor.number, &offset, limit)
                guard sent < 0, errno == EINVAL || errno == ENOSYS else { return sent }
                usesSendfile = false
            }
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: min(limit, Self.readSize)) {
                buffer, filled in
                filled = max(
                    0, unsafe pread(file.descriptor.number, buffer.baseAddress, buffer.count, offset))
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

/// The memory of answers that clients have not taken yet. Without this limit, slow readers of large answers could fill
/// the memory.
///
/// Answers that share their bytes, such as a kept page that a hundred clients read, count once. Files do not count.
/// After much has been sent, the freed memory goes back to the system.
final class AnswerMemory: Sendable {
    private struct State {
        /// The senders of each body, by the address of its bytes. While an answer is being sent its bytes stay there.
        var senders: [UInt: Int] = [:]
        /// The most bytes since memory was given back.
        var peak = 0
        /// When to give memory back; nil if nothing is due.
        var trimTime: ContinuousClock.Instant?
    }

    private let limit: Int
    private let count = Atomic(0)
    private let state = Lock(State())
    private let isTrimSet = Atomic(false)

    /// From this size on a body counts. Smaller ones fit into the system's own buffers.
    private static let leastBody = 16 << 10
    /// From this peak on memory is given back, after this time without answers that wait.
    private static let trimPeak = 8 << 20
    private static let trimDelay = Duration.seconds(2)

    /// - Parameter limit: in bytes.
    init(limit: Int) { self.limit = limit }

    /// Whether another large answer has no room.
    func isFull(for body: HTTPResponse.Body) -> Bool {
        guard body.count >= Self.leastBody, case .bytes = body else { return false }
        return count.load(ordering: .relaxed) >= limit
    }

    /// The bytes that are being sent now.
    var bytes: Int { count.load(ordering: .relaxed) }

    /// Counts the body of an answer that its client does not take at once.
    /// - Returns: the key for `leave`; nil if it does not count.
    func enter(_ body: HTTPResponse.Body) -> UInt? {
        guard body.count >= Self.leastBody, case .bytes(let bytes) = body else { return nil }
        let key = unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        state.withLock { state in
            state.senders[key, default: 0] += 1
            guard state.senders[key] == 1 else { return }
            let all = count.add(bytes.count, ordering: .relaxed).newValue
            state.peak = max(state.peak, all)
        }
        return key
    }

    /// An answer with these bytes has been sent, or its client is gone.
    func leave(_ key: UInt, _ bytes: Int, now: ContinuousClock.Instant) {
        state.withLock { state in
            guard let senders = state.senders[key] else { return }
            if senders > 1 {
                state.senders[key] = senders - 1
                return
            }
            state.senders[key] = nil
            count.subtract(bytes, ordering: .relaxed)
            if state.senders.isEmpty, state.peak >= Self.trimPeak {
                state.trimTime = now + Self.trimDelay
                isTrimSet.store(true, ordering: .relaxed)
            }
        }
    }

    /// When `trim` has something to do; nil for nothing. Cheap: every turn of a loop asks.
    var trimTime: ContinuousClock.Instant? {
        isTrimSet.load(ordering: .relaxed) ? state.withLock { $0.trimTime } : nil
    }

    /// Whether memory is to be given back now. Only one caller gets true.
    func takeTrim(now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            guard let time = state.trimTime, time <= now else { return false }
            (state.trimTime, state.peak) = (nil, 0)
            isTrimSet.store(false, ordering: .relaxed)
            return true
        }
    }

    /// Gives freed memory back to the system. Takes milliseconds.
    static func trim() { csystem_trim_memory() }
}
