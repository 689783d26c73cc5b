import HTTPSemantics
import LazyImages
import Testing

@testable import PictureService

@Suite("Why a source gave no picture", .timeLimit(.minutes(5)))
struct FailureMemoryTests {
    private let key = CacheKey(id: "a")
    private let other = CacheKey(id: "b")

    @Test("what is wrong with the source itself is remembered, for this source, until it is forgotten")
    func remembered() {
        let memory = FailureMemory()
        let failure = PictureFailure(.unprocessableContent, "no picture")
        memory.note(failure, of: key)
        #expect(memory.failure(of: key) == failure && memory.failure(of: other) == nil)
        memory.forget(key)
        #expect(memory.failure(of: key) == nil)
    }

    @Test("what may pass, or is remembered elsewhere, is not")
    func passing() {
        let memory = FailureMemory()
        for status in [
            HTTPStatus.notFound, .gone, .forbidden, .badGateway, .gatewayTimeout, .serviceUnavailable,
        ] {
            memory.note(PictureFailure(status, "x"), of: key)
            #expect(memory.failure(of: key) == nil, "\(status)")
        }
    }
}
