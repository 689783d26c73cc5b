import HTTPSemantics
import HTTPServer
import TestSupport
import TestTraits
import Testing

@testable import ServiceOperations

@Suite("AdminHandler", .bounded, .ownThread)
struct AdminHandlerTests {
    private final class Running {
        let readiness = Readiness()
        let metrics = Metrics()
        let purged = Shared<[String]>([])
        let server: HTTPServer
        let client: RawClient

        init(purges: Bool = true) throws {
            let purge: AdminHandler.Purge = { [purged] source in
                purged.change { $0.append(source) }
                if source.hasSuffix("fails") { throw Failure() }
                return !source.hasSuffix("absent")
            }
            server = try HTTPServer(
                configuration: HTTPServer.Configuration(),
                handler: AdminHandler(
                    metrics: metrics, readiness: readiness, hosts: ["admin.example"],
                    purge: purges ? purge : nil))
            try server.start()
            client = try RawClient(port: try #require(server.ports[0]))
        }

        deinit { server.stop() }

        /// The answer to a request of HTTP/1.0, which needs no Host, on a connection of its own.
        func askWithoutHost(_ target: String) throws -> RawClient.Answer {
            let client = try RawClient(port: try #require(server.ports[0]))
            client.send("GET \(target) HTTP/1.0\r\n\r\n")
            return try client.answer()
        }

        /// The answer to a request with one Host and the given lines.
        func ask(
            _ method: String, _ target: String, host: String = "127.0.0.1", _ fields: String...
        ) throws -> RawClient.Answer {
            let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + fields
            client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
            return try client.answer(hasBody: method != "HEAD")
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description = "the disk is away"
    }

    private func path(_ source: String) -> String { "/sources/\(Base64URL.encode(source.utf8))" }

    @Test("health reports whether the service is alive, and whether it is ready")
    func health() throws {
        let running = try Running()
        #expect(try running.ask("GET", "/health/live").status == 200)
        let starting = try running.ask("GET", "/health/ready")
        #expect(starting.status == 503 && starting.text == "503 Service Unavailable: starting\n")
        #expect(starting.fields["cache-control"] == "no-store")
        running.readiness.becomeReady()
        let ready = try running.ask("GET", "/health/ready", host: "any.example")
        #expect(ready.status == 200 && ready.fields["cache-control"] == "no-store")
        #expect(try running.ask("HEAD", "/health/ready?x=1").status == 200)
        #expect(try running.askWithoutHost("/health/ready").status == 200)
        #expect(try running.askWithoutHost("/health/live").status == 200)
        running.readiness.becomeUnready(because: "stopping")
        #expect(try running.ask("HEAD", "/health/ready").status == 503)
    }

    @Test("a ready service tells of faults that do not keep it from answering, until they are gone")
    func notes() throws {
        let running = try Running()
        running.readiness.setNote("films.db: the file is gone", for: "library")
        #expect(try running.ask("GET", "/health/ready").text == "503 Service Unavailable: starting\n")
        running.readiness.becomeReady()
        running.readiness.setNote("movies.json: not\nJSON", for: "catalogue")
        let answer = try running.ask("GET", "/health/ready")
        #expect(answer.status == 200)
        #expect(answer.text == "200 OK: movies.json: not JSON\nfilms.db: the file is gone\n")
        running.readiness.setNote(nil, for: "catalogue")
        running.readiness.setNote(nil, for: "library")
        #expect(try running.ask("GET", "/health/ready").text == "200 OK\n")
    }

    @Test("the metrics are served for Prometheus")
    func metrics() throws {
        let running = try Running()
        running.metrics.counter("marquee_things_total", "Things.") { 5 }
        running.metrics.watch(server: { [server = running.server] in server.statistics })
        #expect(try running.ask("GET", "/health/live").status == 200)
        let answer = try running.ask("GET", "/metrics")
        #expect(answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.text.contains("\nmarquee_things_total 5\n"))
        #expect(answer.text.contains("\nmarquee_http_requests_total{status=\"200\",route=\"other\"} 1\n"))
        #expect(try running.ask("HEAD", "/metrics").fields["content-length"] != "0")
        #expect(try running.ask("GET", "/metrics", host: "127.0.0.1.evil.example").status == 403)
        #expect(try running.askWithoutHost("/metrics").status == 403)
    }

    @Test("a source is purged by its address")
    func purge() throws {
        let running = try Running()
        #expect(try running.ask("DELETE", path("https://example.org/a?b")).status == 204)
        #expect(running.purged.value == ["https://example.org/a?b"])
        #expect(try running.ask("DELETE", path("absent")).status == 404)
        let failed = try running.ask("DELETE", path("fails"))
        #expect(failed.status == 500 && failed.text.contains("the disk is away"))
        for bad in ["/sources/a", "/sources/_w", "/sources/a+b"] {
            #expect(try running.ask("DELETE", bad).status == 400)
        }
        let without = try Running(purges: false)
        #expect(try without.ask("DELETE", path("https://example.org/a")).status == 404)
    }

    @Test("a page of another site cannot purge")
    func sites() throws {
        let running = try Running()
        let target = path("https://example.org/a")
        for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "a b"] {
            #expect(try [400, 403].contains(running.ask("DELETE", target, host: host).status))
        }
        for field in [
            "Origin: http://evil.example", "Origin: null", "Origin: http://127.0.0.1:1",
            "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
        ] {
            #expect(try running.ask("DELETE", target, field).status == 403, "\(field)")
        }
        #expect(try running.ask("DELETE", "http://evil.example\(target)").status == 403)
        #expect(running.purged.value.isEmpty)
        for host in ["localhost:9090", "[::1]", "192.0.2.1:9090", "Admin.example"] {
            #expect(try running.ask("DELETE", target, host: host).status == 204, "\(host)")
        }
        #expect(
            try running.ask(
                "DELETE", target, host: "127.0.0.1:9090", "Origin: http://127.0.0.1:9090",
                "Sec-Fetch-Site: same-origin"
            ).status == 204)
    }
}
