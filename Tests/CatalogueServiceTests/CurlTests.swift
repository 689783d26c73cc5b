import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

extension OverSockets {
    /// Files, read by an independent client.
    @Suite("works with curl", .bounded, .enabled(if: Curl.isInstalled, "curl is not installed"))
    struct CurlTests {
        private func curl(_ running: RunningService, _ arguments: String) -> String {
            // The service must live until curl has ended.
            defer { withExtendedLifetime(running) {} }
            return Curl.output(arguments)
        }

        @Test("files, over one connection")
        func files() throws {
            let running = try RunningService()
            let base = "http://127.0.0.1:\(running.service.port)"
            let output = curl(
                running, "\(base)/posters/a.jpg \(base)/movies.json -w '|%{http_code} %{num_connects}|'")
            #expect(output == "0123456789|200 1|[]|200 0|")
        }

        @Test("ranges, resumed downloads and unchanged files")
        func parts() throws {
            let running = try RunningService()
            let url = "http://127.0.0.1:\(running.service.port)/posters/a.jpg"
            #expect(curl(running, "-r 3-5 \(url)") == "345")
            #expect(curl(running, "-r -2 \(url)") == "89")
            #expect(
                curl(running, "-I -o /dev/null -w '%{http_code} %header{content-length}' \(url)") == "200 10")
            let tag = running.folder.file("tag")
            #expect(curl(running, "--etag-save \(tag) \(url)") == "0123456789")
            #expect(curl(running, "--etag-compare \(tag) -w '%{http_code}' \(url)") == "304")
            #expect(curl(running, "-z '20370101' -w '%{http_code}' \(url)") == "304")
        }

        @Test("a refused upload gets its answer")
        func upload() throws {
            let running = try RunningService(["large.png": ""])
            #expect(unsafe truncate(running.folder.file("large.png"), 1 << 20) == 0)
            let url = "http://127.0.0.1:\(running.service.port)/x"
            #expect(
                curl(
                    running,
                    "--data-binary @\(running.folder.file("large.png")) -o /dev/null -w '%{http_code}' \(url)"
                ) == "405")
            #expect(
                curl(running, "--data-binary @/dev/null -d small -o /dev/null -w '%{http_code}' \(url)")
                    == "405")
        }
    }
}
