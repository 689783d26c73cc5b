import HTTPSemantics
import SystemSupport

/// A request whose head has come, and the part of its body that has come.
struct IncomingRequest {
    /// What the body is for.
    enum Purpose {
        /// The handler gets it.
        case handling(BodySpool, Admission.Responder)
        /// It is read past, and then this answer is sent.
        case discarding(HTTPResponse)
    }

    enum Progress {
        case needsMore
        /// What has come must be stored, before `take` goes on.
        case store(BodySpool)
        case handle(RequestBody, Admission.Responder)
        case answer(HTTPResponse)
    }

    let head: RequestHead
    private var start: ContinuousClock.Instant
    /// When the body last began to wait for the disk.
    var waitStart: ContinuousClock.Instant
    private var decoder: BodyDecoder
    private let purpose: Purpose
    private var received = 0

    /// - Parameter limit: the most bytes the body may have.
    init(
        head: RequestHead, purpose: Purpose, limit: Int, start: ContinuousClock.Instant
    ) throws(BodyDecoder.Failure) {
        self.head = head
        self.start = start
        waitStart = start
        self.purpose = purpose
        decoder = try BodyDecoder(head.framing, limit: limit)
    }

    /// Takes received bytes of the body. An answer to an invalid body ends the connection.
    mutating func take(from input: inout InputBuffer) -> Progress {
        do throws(BodyDecoder.Failure) {
            while true {
                switch try decoder.next(from: &input) {
                case .needsMore: return full ?? .needsMore
                case .end: return full ?? finish()
                case .bytes(let bytes):
                    received += bytes.count
                    if let answer = keep(bytes) { return .answer(answer) }
                }
            }
        } catch {
            return .answer(Self.answer(to: error, instead: purpose))
        }
    }

    /// When the body has taken too long. A slow client has more time; one that sends nothing has not.
    func deadline(_ configuration: HTTPServer.Configuration) -> ContinuousClock.Instant {
        start + configuration.bodyTimeout
            + .milliseconds(min(received, 1 << 50) * 1000 / configuration.minimumBodyRate)
    }

    /// The answer to a body that is malformed or too long. The connection ends after it.
    static func answer(to failure: BodyDecoder.Failure, instead purpose: Purpose) -> HTTPResponse {
        var answer: HTTPResponse
        switch (failure, purpose) {
        case (.malformed(let reason), _): answer = .plain(.badRequest, reason)
        case (.tooLong, .handling): answer = .plain(.contentTooLarge)
        case (.tooLong, .discarding(let response)): answer = response
        }
        answer.closes = true
        return answer
    }

    /// The time that the disk has taken is not the client's.
    mutating func excuse(until now: ContinuousClock.Instant) { start += waitStart.duration(to: now) }

    private func keep(_ bytes: ArraySlice<UInt8>) -> HTTPResponse? {
        guard case .handling(let spool, _) = purpose, !spool.append(bytes) else { return nil }
        return .plain(.serviceUnavailable, "too many bodies wait for the disk", closes: true)
    }

    private var full: Progress? {
        guard case .handling(let spool, _) = purpose, spool.isFull else { return nil }
        return .store(spool)
    }

    /// Stores what has come of a body; the answer if that fails. Blocks.
    static func failure(storing spool: BodySpool) -> HTTPResponse? {
        do throws(FileFault) {
            try spool.store()
            return nil
        } catch {
            let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.code)
            return isFull
                ? .plain(.insufficientStorage, "the disk has no room for the request's body", closes: true)
                : .plain(.serviceUnavailable, "the request's body cannot be stored", closes: true)
        }
    }

    private func finish() -> Progress {
        switch purpose {
        case .discarding(let response): .answer(response)
        case .handling(let spool, let respond): .handle(spool.finish(), respond)
        }
    }
}

extension HTTPResponse {
    /// The answer to a head that is refused. The connection ends, since nothing tells where the next request begins.
    static func refusing(_ refusal: RequestHead.Refusal) -> HTTPResponse {
        switch refusal {
        case .badRequest(let reason): plain(.badRequest, reason, closes: true)
        case .versionNotSupported: plain(.versionNotSupported, closes: true)
        case .codingNotSupported:
            plain(.notImplemented, "the only supported transfer coding is chunked", closes: true)
        }
    }
}

/// Bytes received and not yet used. One read may bring half a head or three requests.
struct InputBuffer {
    private var bytes: [UInt8] = []
    /// The index of the first unused byte.
    private var start = 0
    /// The end of the head is searched for from here on, so that no byte is examined twice.
    private var searched = 0

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    var isEmpty: Bool { start == bytes.count }
    var count: Int { bytes.count - start }

    mutating func append(_ received: ArraySlice<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            searched = max(0, searched - start)
            start = 0
        }
        bytes += received
    }

    /// Takes the next whole head, without the blank line that ends it; nil if it has not come.
    ///
    /// Only CR LF ends a line. A server in front may take a line feed alone for the end of a line, or not: the two
    /// would see different requests (RFC 9112 section 11.2). Such a line ends the head: it is the last line of what
    /// this returns, with its line feed, and `RequestHead` refuses it.
    mutating func takeHead() -> ArraySlice<UInt8>? {
        searched = max(searched, start)
        while let feed = nextLineFeed(from: searched) {
            searched = feed + 1
            guard feed > start, bytes[feed - 1] == Self.carriageReturn else { return take(feed + 1 - start) }
            if feed == start + 1 {
                // Empty lines before a request are skipped and do not belong to it (RFC 9112 section 2.2).
                use(2)
            } else if bytes[feed - 2] == Self.lineFeed {
                return take(feed + 1 - start).dropLast(4)
            }
        }
        searched = bytes.count
        return nil
    }

    /// Takes a line with its carriage return, but without the line feed; nil if it has not come.
    mutating func takeLine() -> ArraySlice<UInt8>? {
        nextLineFeed(from: start).map { take($0 + 1 - start).dropLast() }
    }

    /// Takes at most `limit` bytes.
    mutating func take(atMost limit: Int) -> ArraySlice<UInt8> { take(min(limit, count)) }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let taken = bytes[start..<start + count]
        use(count)
        return taken
    }

    private mutating func use(_ count: Int) {
        start += count
        searched = start
        // An idle connection keeps no memory for bytes.
        if isEmpty { self = InputBuffer() }
    }

    /// The index of the next line feed. By memchr, which examines many bytes at once.
    private func nextLineFeed(from index: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { buffer -> Int? in
            guard let base = buffer.baseAddress, index < buffer.count,
                let feed = unsafe memchr(base + index, Int32(Self.lineFeed), buffer.count - index)
            else { return nil }
            return unsafe UnsafeRawPointer(feed) - base
        }
    }
}
