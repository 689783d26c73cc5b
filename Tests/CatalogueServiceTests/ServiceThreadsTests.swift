import Glibc
import LazyImages
import Testing

@testable import CatalogueService

extension OverSockets {
    @Suite("ServiceThreads")
    struct ServiceThreadsTests {
        @Test("threads take no signal, of which SIGPIPE would end the program")
        func signals() throws {
            let threads = try ServiceThreads()
            let blocked = Lock<[Int32]>([])
            threads.start {
                var mask = sigset_t()
                _ = unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
                let found = [SIGPIPE, SIGTERM, SIGINT].filter { unsafe sigismember(&mask, $0) == 1 }
                blocked.withLock { $0 = found }
            }
            threads.waitUntilEnded()
            #expect(blocked.withLock { $0 } == [SIGPIPE, SIGTERM, SIGINT])
        }
    }
}
