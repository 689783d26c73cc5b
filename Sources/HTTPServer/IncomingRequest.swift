import Glibc
import HTTPSemantics
import SystemSupport

/// A request whose head has come, and the part of its body that has come.
struct IncomingRequest {
    /// What the body is for.
    enum Purpose {
        /// The handler gets it.
        case handling(BodySpool)
        /// It is read past, and then this answer is sent.
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

    /// Takes received bytes of the body. An answer to an invalid body ends the connection.
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

    private mutating func keep(_ bytes: ArraySlice<UInt8>) -> HTTPResponse? {
        guard case .handling(var spool) = purpose else { return nil }
        // No second reference to the spool's bytes may exist, or each piece would copy all of them.
        purpose = .discarding(.plain(.internalServerError))
        do throws(FileFault) {
            try spool.append(bytes)
            purpose = .handling(spool)
            return nil
        } catch {
            spool.discard()
            let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.code)
            return isFull
                ? .plain(.insufficientStorage, "the disk has no room for the request's body", closes: true)
                : .plain(.serviceUnavailable, "the request's body cannot be stored", closes: true)
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

    /// Frees a body that never became whole.
    mutating func abandon() {
        if case .handling(var spool) = purpose { spool.discard() }
        purpose = .discarding(.plain(.internalServerError))
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
