import HTTPSemantics
import LazyImages
import TestTraits
import Testing

@testable import PictureServer

@Suite("Stored failures of sources", .bounded)
struct FailureMemoryTests {
    private let key = CacheKey(id: "a")
    private let other = CacheKey(id: "b")

    @Test("a permanent fault of a source is stored for that source, until it is forgotten")
    func remembered() {
        let memory = FailureMemory()
        let failure = PictureFailure(.unprocessableContent, "no picture")
        memory.record(failure, of: key)
        #expect(memory.failure(of: key) == failure && memory.failure(of: other) == nil)
        memory.remove(key)
        #expect(memory.failure(of: key) == nil)
    }

    @Test("a transient failure, and one that the HTTP cache stores, is not stored")
    func passing() {
        let memory = FailureMemory()
        for status in [
            HTTPStatus.notFound, .gone, .forbidden, .badGateway, .gatewayTimeout, .serviceUnavailable,
        ] {
            memory.record(PictureFailure(status, "x"), of: key)
            #expect(memory.failure(of: key) == nil, "\(status)")
        }
    }
}
