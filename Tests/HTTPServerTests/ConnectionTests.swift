import Glibc
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

extension OverSockets {
    @Suite("serves many connections", .bounded)
    struct Connections {
        @Test("requests beyond the limit of blocking threads wait, and other requests are served meanwhile")
        func blocking() async throws {
            let gate = Gate()
            let entered = Tally()
            let running = try RunningServer(
                EchoHandler(whenHandled: {
                    entered.add()
                    gate.wait()
                })
            ) { $0.blockingThreads = 2 }
            let clients = try (0..<5).map { _ in try running.client() }
            for client in clients { client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n") }
            try await entered.wait(for: 2)
            // A request that needs no thread is answered.
            let other = try running.client()
            #expect(try other.get("/refused").status == 403)
            #expect(entered.count == 2)
            gate.open()
            for client in clients { #expect(try client.answer().text == "GET /a ") }
        }

        @Test("a few threads serve a thousand connections")
        func many() async {
            // In a process of its own: the servers of other tests have threads too.
            await #expect(processExitsWith: .success) {
                let running = try RunningServer()
                let before = Self.threads()
                let clients = try (0..<1000).map { _ in try running.client() }
                for client in clients { client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n") }
                for client in clients { #expect(try client.answer().status == 200) }
                #expect(running.server.statistics.connectionsNow == 1000)
                #expect(Self.threads() < before + 40)
            }
        }

        @Test("a Unix domain socket is served, and its client is local")
        func local() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("socket")
            var configuration = HTTPServer.Configuration()
            configuration.addresses = [.local(path: path)]
            let server = try HTTPServer(configuration: configuration, handler: EchoHandler())
            try server.start()
            let client = try RawClient(path: path)
            let answer = try client.get("/a")
            #expect(answer.text == "GET /a ")
            #expect(answer.fields["peer"] == "local")
            server.stop()
            #expect(unsafe access(path, F_OK) != 0)
        }

        private static func threads() -> Int {
            var names = 0
            guard let listing = unsafe opendir("/proc/self/task") else { return 0 }
            defer { unsafe closedir(listing) }
            while unsafe readdir(listing) != nil { names += 1 }
            return names
        }
    }
}
