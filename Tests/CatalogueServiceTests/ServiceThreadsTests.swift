import Glibc
import LazyImages
import SystemSupport
import TestSupport
import Testing

@testable import CatalogueService

extension OverSockets {
    @Suite("ServiceThreads")
    struct ServiceThreadsTests {
        @Test("threads take no signal, of which SIGPIPE would end the program")
        func signals() throws {
            let threads = try ServiceThreads()
            let blocked = Lock<[Int32]>([])
            try threads.start {
                var mask = sigset_t()
                _ = unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
                let found = [SIGPIPE, SIGTERM, SIGINT].filter { unsafe sigismember(&mask, $0) == 1 }
                blocked.withLock { $0 = found }
            }
            threads.waitUntilEnded()
            #expect(blocked.withLock { $0 } == [SIGPIPE, SIGTERM, SIGINT])
        }

        @Test(
            "a service without a thread does not start, and does when there is one; a connection waits for its own"
        )
        func fewThreads() async throws {
            let folder = try TemporaryFolder()
            let left = Shared(0)
            let refused = Tally()
            let service = try CatalogueService(folder: folder.path) { name, body throws(ResourceShortage) in
                let isThere = left.change { left in
                    defer { left = max(0, left - 1) }
                    return left > 0
                }
                guard isThere else {
                    refused.add()
                    throw ResourceShortage(missing: .thread, code: EAGAIN)
                }
                try BlockingThreads.startThread(name: name, body)
            }
            #expect(throws: CatalogueServiceError.system(call: "pthread_create", errno: EAGAIN)) {
                try service.start()
            }
            left.change { $0 = 1 }
            try service.start()
            let client = try RawClient(port: service.port)
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            // The service itself, and then the connection.
            try await refused.reaches(2)
            left.change { $0 = 1 }
            #expect(try client.answer().status == 200)
            // One that never gets its thread does not keep the service from stopping.
            let other = try RawClient(port: service.port)
            try await refused.reaches(refused.count + 1)
            service.stop()
            #expect(other.isEnded())
        }
    }
}
