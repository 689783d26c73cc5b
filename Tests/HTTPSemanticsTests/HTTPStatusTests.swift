import HTTPSemantics
import Testing

@Suite("HTTPStatus", .timeLimit(.minutes(30)))
struct HTTPStatusTests {
    @Test("every status that has a name here has a reason phrase, and one that is unknown has none")
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

    @Test("what a busy or failing server says is temporary, what the request is to blame for is not")
    func temporary() {
        let all = (200...599).filter { HTTPStatus(rawValue: $0).isTemporary }
        #expect(all == [408, 425, 429] + Array(500...599))
    }
}
