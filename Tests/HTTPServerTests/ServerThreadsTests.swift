import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

extension OverSockets {
    @Suite("ServerThreads", .bounded)
    struct ServerThreadsTests {
        @Test("the threads block all signals, so that SIGPIPE does not end the program")
        func signals() throws {
            let threads = try ServerThreads(startThread: BlockingThreads.startThread)
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

        @Test("a server that gets no descriptor for epoll does not start, and says so")
        func fewDescriptors() async {
            await #expect(processExitsWith: .success) {
                var limit = rlimit(rlim_cur: 64, rlim_max: 64)
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
                var held: [Int32] = []
                var configuration = HTTPServer.Configuration()
                configuration.eventThreads = 1
                let missing = HTTPServerError.system(call: "epoll", errno: EMFILE)
                var errors: [HTTPServerError] = []
                // With one free descriptor more each time, the server needs the one for epoll last. Another thread of
                // this process may open or close one meanwhile, and then a number is missed.
                for _ in 0..<100 where !errors.contains(missing) {
                    var free = 0
                    var isStarted = false
                    while !isStarted {
                        while case let descriptor = dup(STDERR_FILENO), descriptor >= 0 {
                            held.append(descriptor)
                        }
                        free += 1
                        for _ in 0..<free { close(held.removeLast()) }
                        do throws(HTTPServerError) {
                            let server = try HTTPServer(configuration: configuration, handler: EchoHandler())
                            try server.start()
                            server.stop()
                            isStarted = true
                        } catch {
                            errors.append(error)
                        }
                    }
                }
                #expect(errors.contains(missing))
                #expect(missing.description == "the system refused epoll: Too many open files")
                for descriptor in held { close(descriptor) }
                let server = try HTTPServer(configuration: configuration, handler: EchoHandler())
                try server.start()
                #expect(try RawClient(port: try #require(server.ports[0])).get("/").status == 200)
                server.stop()
            }
        }

        @Test("a server without a thread does not start, and does once there is one")
        func fewThreads() throws {
            let left = Shared(0)
            let refused = Tally()
            let server = try HTTPServer(
                configuration: HTTPServer.Configuration(), handler: EchoHandler(),
                startThread: { name, body throws(ResourceShortage) in
                    let isThere = left.change { left in
                        defer { left = max(0, left - 1) }
                        return left > 0
                    }
                    guard isThere else {
                        refused.add()
                        throw ResourceShortage(missing: .thread, code: EAGAIN)
                    }
                    try BlockingThreads.startThread(name: name, body)
                })
            #expect(throws: HTTPServerError.system(call: "pthread_create", errno: EAGAIN)) {
                try server.start()
            }
            // One thread serves all connections.
            left.change { $0 = 1 }
            try server.start()
            let port = try #require(server.ports[0])
            let clients = try (0..<3).map { _ in try RawClient(port: port) }
            for client in clients { #expect(try client.get("/").status == 200) }
            server.stop()
            #expect(clients.allSatisfy { $0.isEnded() })
        }
    }
}
