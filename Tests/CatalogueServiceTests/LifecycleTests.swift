import CatalogueService
import FoundationEssentials
import Glibc
import HTTPServer
import TestSupport
import TestTraits
import Testing

extension OverSockets {
    @Suite("starts and stops", .bounded)
    struct Life {
        private func error(
            _ folder: String, _ configure: (inout CatalogueService.Configuration) -> Void = { _ in }
        )
            -> CatalogueServiceError?
        {
            var configuration = CatalogueService.Configuration()
            configure(&configuration)
            do {
                _ = try CatalogueService(.folder(path: folder), configuration: configuration)
                return nil
            } catch {
                return error
            }
        }

        @Test("a faulty folder, address or port is reported")
        func errors() throws {
            let running = try RunningService()
            let folder = running.folder
            #expect(error(folder.file("none")) == .folder(path: folder.file("none"), errno: ENOENT))
            #expect(
                error(folder.file("movies.json")) == .folder(path: folder.file("movies.json"), errno: ENOTDIR)
            )
            #expect(
                error(folder.path) { $0.server.addresses = [.internet(address: "localhost", port: 0)] }
                    == .server(.invalidAddress("localhost")))
            #expect(
                error(folder.path) { $0.server.addresses = [.internet(address: "192.0.2.1", port: 0)] }
                    == .server(.addressNotHere("192.0.2.1")))
            let port = running.service.port
            #expect(
                error(folder.path) { $0.server.addresses = [.internet(address: "127.0.0.1", port: port)] }
                    == .server(.portInUse(address: "127.0.0.1", port: port)))
            for error: CatalogueServiceError in [
                .server(.portInUse(address: "127.0.0.1", port: 80)),
                .folder(path: "/x", errno: EINVAL),
            ] {
                #expect(!error.description.contains("\n"))
            }
            #expect(
                HTTPServerError.system(call: "bind", errno: EINVAL).description.hasSuffix(
                    "Invalid argument"))
        }

        @Test("it listens on IPv6 where the machine has it, and on every interface")
        func addresses() throws {
            let folder = try TemporaryFolder()
            #expect(
                error(folder.path) { $0.server.addresses = [.internet(address: "0.0.0.0", port: 0)] } == nil)
            let version6 = error(folder.path) { $0.server.addresses = [.internet(address: "::1", port: 0)] }
            #expect(
                version6 == nil || version6 == .server(.addressNotHere("::1"))
                    || version6 == .server(.system(call: "socket", errno: EAFNOSUPPORT)))
        }

        @Test("a stop ends idle connections and half-sent requests at once, and frees the port")
        func stopIdle() throws {
            let running = try RunningService { $0.server.stopGrace = .seconds(600) }
            let listening = try #require(ListeningSocket(port: running.service.port))
            let idle = try running.client()
            let used = try running.client()
            #expect(try used.get("/movies.json").status == 200)
            let half = try running.client()
            half.send("GET / HT")
            #expect(try running.client().get("/movies.json").status == 200)
            running.service.stop()
            #expect(idle.isEnded() && used.isEnded() && half.isEnded())
            #expect(running.service.statistics.connectionsNow == 0)
            #expect(!listening.isOpen)
        }

        @Test("a stop lets a running answer finish, and ignores its bandwidth limit")
        func stopRunning() async throws {
            let running = try RunningService(["a.png": String(repeating: "x", count: 100_000)]) {
                $0.server.bandwidth = 1000
                $0.server.stopGrace = .seconds(600)
            }
            let client = try running.client()
            client.send("GET /a.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await eventually { running.service.statistics.bytesSent > 0 }
            running.service.stop()
            #expect(client.readToEnd().count > 100_000)
        }

        @Test("a stop does not wait for the latency of an answer, which is still sent")
        func stopLatency() async throws {
            let running = try RunningService {
                $0.server.latency = .seconds(600)
                $0.server.stopGrace = .seconds(600)
            }
            let client = try running.client()
            client.send("GET /movies.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await eventually { running.service.statistics.requests > 0 }
            running.service.stop()
            #expect(try client.answer().text == "[]")
            #expect(client.isEnded())
        }

        @Test("a stop waits for a client that does not read no longer than its grace period")
        func stopStuck() async throws {
            let running = try RunningService(["large.png": ""]) {
                $0.server.writeTimeout = .seconds(600)
                $0.server.stopGrace = .milliseconds(50)
            }
            #expect(unsafe truncate(running.folder.file("large.png"), 256 << 20) == 0)
            let client = try running.client()
            client.send("GET /large.png HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try await eventually { running.service.statistics.bytesSent > 0 }
            running.service.stop()
            #expect(client.readToEnd().count < 256 << 20)
        }

        @Test("stopping twice, starting twice and stopping an unstarted service are harmless")
        func twice() throws {
            let folder = try TemporaryFolder()
            let service = try CatalogueService(.folder(path: folder.path))
            try service.start()
            try service.start()
            #expect(try RawClient(port: service.port).get("/").status == 404)
            let listening = try #require(ListeningSocket(port: service.port))
            service.stop()
            service.stop()
            try service.start()
            #expect(!listening.isOpen)
            // Another service may listen there now, but not this one.
            _ = try? RawClient(port: service.port)
            #expect(service.statistics.connectionsInAll == 1)
            let never = try CatalogueService(.folder(path: folder.path))
            let waiting = try #require(ListeningSocket(port: never.port))
            never.stop()
            #expect(!waiting.isOpen)
        }

        @Test("a released service ends by itself")
        func letGo() async throws {
            let folder = try TemporaryFolder()
            func startAndLetGo() throws -> ListeningSocket {
                let service = try CatalogueService(.folder(path: folder.path))
                try service.start()
                #expect(try RawClient(port: service.port).get("/").status == 404)
                return try #require(ListeningSocket(port: service.port))
            }
            let listening = try startAndLetGo()
            // Its thread closes the port some time later, within the suite's time limit.
            try await eventually { !listening.isOpen }
        }

        @Test("no descriptor and no thread outlives its service")
        func leaks() async throws {
            func cycle() throws {
                let running = try RunningService { $0.server.maximumConnections = 3 }
                let clients = try (0..<6).map { _ in try running.client() }
                for client in clients {
                    client.send("GET /posters/a.jpg HTTP/1.1\r\nHost: localhost\r\n\r\nGET /pos")
                }
                for client in clients {
                    do {
                        #expect([200, 503].contains(try client.answer().status))
                    } catch RawClient.Failure.noAnswer(got: "") {
                        // This request is too late to be refused for too many connections.
                    }
                }
                running.service.stop()
            }
            try cycle()
            let (descriptors, threads) = (openDescriptors(), runningThreads())
            for _ in 0..<20 { try cycle() }
            // Other tests open and close descriptors meanwhile, and threads end a moment after their work.
            // But what each of twenty services leaks stays, and the suite's time limit bounds the wait.
            try await eventually {
                openDescriptors() < descriptors + 20 && runningThreads() < threads + 40
            }
        }

        /// Sockets, events and test files: the process may open other descriptors.
        private func openDescriptors() -> Int {
            entries("/proc/self/fd").filter { name in
                var buffer = [CChar](repeating: 0, count: 1024)
                let length = unsafe readlink("/proc/self/fd/\(name)", &buffer, buffer.count)
                let target = String(
                    decoding: buffer.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
                return target.hasPrefix("socket:") || target.contains("eventfd")
                    || target.contains("marquee-test")
            }.count
        }

        private func runningThreads() -> Int { entries("/proc/self/task").count }

        private func entries(_ folder: String) -> [String] {
            // Ignored: without /proc both counts are 0.
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }
    }
}
