import Glibc
import HTTPSemantics
import SystemSupport

/// A request whose head is here, and as much of its body as has come.
struct IncomingRequest {
    /// What the body is for.
    enum Purpose {
        /// The handler wants it.
        case handling(BodySpool)
        /// Nobody wants it: this answer follows as soon as it is read past.
        case discarding(HTTPResponse)
    }

    enum Progress {
        case needsMore
        case handle(RequestBody)
        case answer(HTTPResponse)
    }

    let head: RequestHead
    private let start: ContinuousClock.Instant
    private var decoder: BodyDecoder
    private var purpose: Purpose
    private var received = 0

    /// - Parameter limit: the most bytes the body may have.
    init(
        head: RequestHead, purpose: Purpose, limit: Int, start: ContinuousClock.Instant
    ) throws(BodyDecoder.Failure) {
        self.head = head
        self.start = start
        self.purpose = purpose
        decoder = try BodyDecoder(head.framing, limit: limit)
    }

    /// Takes what has been received of the body. Where the body cannot be taken, the answer ends the connection.
    mutating func take(from input: inout InputBuffer) -> Progress {
        do throws(BodyDecoder.Failure) {
            while true {
                switch try decoder.next(from: &input) {
                case .needsMore: return .needsMore
                case .end: return finish()
                case .bytes(let bytes):
                    received += bytes.count
                    if let answer = keep(bytes) { return .answer(answer) }
                }
            }
        } catch {
            return .answer(Self.answer(to: error, instead: purpose))
        }
    }

    /// When the body has taken too long: a slow client may take longer, one that stands still may not.
    func deadline(_ configuration: HTTPServer.Configuration) -> ContinuousClock.Instant {
        start + configuration.bodyTimeout
            + .milliseconds(min(received, 1 << 50) * 1000 / configuration.minimumBodyRate)
    }

    /// The answer to a body that cannot be taken. The connection ends after it.
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

    private mutating func keep(_ bytes: ArraySlice<UInt8>) -> HTTPResponse? {
        guard case .handling(var spool) = purpose else { return nil }
        // Nobody else may hold the spool's bytes, or each piece would copy all of them.
        purpose = .discarding(.plain(.internalServerError))
        do throws(FileFault) {
            try spool.append(bytes)
            purpose = .handling(spool)
            return nil
        } catch {
            spool.discard()
            let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.code)
            return isFull
                ? .plain(.insufficientStorage, "no room for the request's body", closes: true)
                : .plain(.serviceUnavailable, "the request's body cannot be kept", closes: true)
        }
    }

    private mutating func finish() -> Progress {
        switch purpose {
        case .discarding(let response): return .answer(response)
        case .handling(var spool):
            purpose = .discarding(.plain(.internalServerError))
            return .handle(spool.finish())
        }
    }

    /// Lets go of a body that never became whole.
    mutating func abandon() {
        if case .handling(var spool) = purpose { spool.discard() }
        purpose = .discarding(.plain(.internalServerError))
    }
}

extension HTTPResponse {
    /// The answer to a head that is refused. What follows it cannot be told apart from its body.
    static func refusing(_ refusal: RequestHead.Refusal) -> HTTPResponse {
        switch refusal {
        case .badRequest(let reason): plain(.badRequest, reason, closes: true)
        case .versionNotSupported: plain(.versionNotSupported, closes: true)
        case .codingNotSupported:
            plain(.notImplemented, "of transfer codings only chunked is read", closes: true)
        }
    }
}
