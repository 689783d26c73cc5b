import HTTPSemantics
import TestTraits
import Testing

@Suite("HTTPStatus", .bounded)
struct HTTPStatusTests {
    @Test("every named status has a reason phrase, and an unknown one has none")
    func reasons() {
        let named: [HTTPStatus] = [
            .ok, .partialContent, .notModified, .badRequest, .notFound, .methodNotAllowed, .requestTimeout,
            .preconditionFailed, .contentTooLarge, .rangeNotSatisfiable, .headerFieldsTooLarge,
            .internalServerError, .notImplemented, .serviceUnavailable, .versionNotSupported,
        ]
        #expect(named.filter { $0.reason.isEmpty } == [])
        #expect(HTTPStatus.rangeNotSatisfiable.reason == "Range Not Satisfiable")
        #expect(HTTPStatus(rawValue: 299).reason.isEmpty)
    }

    @Test("statuses of a busy or failing server are temporary, statuses that blame the request are not")
    func temporary() {
        let all = (200...599).filter { HTTPStatus(rawValue: $0).isTemporary }
        #expect(all == [408, 425, 429] + Array(500...599))
    }
}
