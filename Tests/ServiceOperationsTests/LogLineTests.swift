import Foundation
import HTTPSemantics
import TestTraits
import Testing

@testable import HTTPServer
@testable import ServiceOperations

@Suite("LogLine", .bounded)
struct LogLineTests {
    private func line(
        _ target: String, cacheStatus: String? = nil, writer: String? = nil, agent: String? = nil,
        referer: String? = nil, trace: String? = nil
    ) -> LogLine {
        LogLine(
            answer: HTTPServer.Answer(
                method: "GET", target: target, status: 200, bytes: 18_231, time: .microseconds(3214),
                peer: Peer(address: "203.0.113.7", isLocal: false), userAgent: agent, referer: referer,
                trace: trace, cacheStatus: cacheStatus,
                id: "5f1c2a00000012b", writer: writer),
            client: IPAddress("203.0.113.7"), time: 1_795_362_574_123)
    }

    private func encoded(_ source: String) -> String { Base64URL.encode(source.utf8) }

    @Test("a line has the request and its answer, as JSON and as text")
    func whole() throws {
        let target = "/image/-/w342/\(encoded("https://example.org/a.jpg"))"
        let line = line(target, cacheStatus: "marquee; hit")
        #expect(
            line.json
                == "{\"time\":\"2026-11-22T15:49:34.123Z\",\"id\":\"5f1c2a00000012b\",\"method\":\"GET\","
                + "\"path\":\"/image/-/w342/*\","
                + "\"source\":\"https://example.org/a.jpg\",\"status\":200,\"bytes\":18231,\"ms\":3.214,"
                + "\"client\":\"203.0.113.7\",\"cache\":\"marquee; hit\"}\n")
        #expect(
            line.text
                == "2026-11-22T15:49:34.123Z 203.0.113.7 \"GET /image/-/w342/*\" 200 18231 3.214 ms "
                + "\"https://example.org/a.jpg\" \"marquee; hit\" \"5f1c2a00000012b\" - - - -\n")
        #expect(
            self.line("/films").text.hasSuffix(
                "\"GET /films\" 200 18231 3.214 ms - - \"5f1c2a00000012b\" - - - -\n"))
        let written = self.line("/films", writer: "the \"big\" laptop")
        #expect(written.json.hasSuffix("\"client\":\"203.0.113.7\",\"writer\":\"the \\\"big\\\" laptop\"}\n"))
        #expect(written.text.hasSuffix(" \"the \\\"big\\\" laptop\" - - -\n"))
    }

    @Test("a line has the client's program, its page without secrets, and its trace, each cut at 256 bytes")
    func clients() {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let line = line(
            "/films", agent: "curl/8 \u{1B}[2J", referer: "https://user:S3CRET@films.example/a?S3CRET#S3CRET",
            trace: trace)
        #expect(
            line.json.hasSuffix(
                ",\"agent\":\"curl/8 \\u001b[2J\",\"referer\":\"https://films.example/a\",\"trace\":\"\(trace)\"}\n"
            ))
        #expect(
            line.text.hasSuffix(
                " - \"curl/8 \\u001b[2J\" \"https://films.example/a\" \"\(trace)\"\n"))
        for referer in ["S3CRET", "https://h/image/S3CRET/w342/S3CRET", "data:S3CRET", "https://S3CRET@/"] {
            #expect(!self.line("/films", referer: referer).json.contains("S3CRET"), "\(referer)")
        }
        let long = self.line("/films", agent: String(repeating: "a", count: 9000)).json
        #expect(long.contains(String(repeating: "a", count: 256)) && long.utf8.count < 600)
    }

    @Test("a line has no query, no user, no fragment, no signature and no encoded source")
    func secrets() {
        let source = encoded("https://user:S3CRET@example.org/a.jpg?token=S3CRET#S3CRET")
        for target in [
            "/films?token=S3CRET", "/image/S3CRET/w342/\(source)", "/%69mage/S3CRET/w342/\(source)",
            "http://user:S3CRET@host/films", "http://host/image/S3CRET/w342/\(source)?x=S3CRET",
            "//image/S3CRET/w342/\(source)", "/behind/a/proxy/image/S3CRET/w342/\(source)",
            "/image/S3CRET", "/image/S3CRET/w342", "/image/S3CRET/w342/%zz", "/image/S3CRET/w342/a/\(source)",
            "/image/-/w342/S3CRET", "/image/-/w342/S3CRET/S3CRET",
            "/image/-/w342/\(encoded("https://user:S3/CRET@example.org/a"))",
            "/image/-/w342/\(encoded("https://user:a@S3CRET@example.org/a"))",
            "/image/-/w342/\(encoded("https://user:S3CRET\\@example.org/a"))",
            "/image/-/w342/\(encoded("https://example.org/a?\u{301}S3CRET"))",
            "/image/-/w342/\(encoded("https://S3CRET@\u{301}example.org/a#\u{301}S3CRET"))",
            "/films?\u{301}S3CRET", "/image/-/w342/\(encoded("data:image/png;base64,S3CRET"))",
        ] {
            for text in [line(target).json, line(target).text] {
                #expect(!text.contains("S3CRET") && !text.contains("CRET@"), "\(text)")
                #expect(!text.contains(source.prefix(16)), "\(text)")
            }
        }
        #expect(LogPath("/image/a.b/w342/\(source)").source == "https://example.org/a.jpg")
        #expect(LogPath("/films?q=100%") == LogPath("/films"))
        #expect(LogPath("/films/image/poster/w342").text == "/films/image/poster/w342")
    }

    @Test("no character controls a terminal or ends a line, and every line is valid JSON")
    func harmless() throws {
        let source = encoded("https://example.org/\u{1B}[2J\r\n\u{9B}\u{202E}\"\\\u{1F600}")
        let long = String(repeating: "x", count: 8000)
        for target in [
            "/%1b[2J%0d%0a", "/\u{9B}\u{202E}\"\\", "/a\"b\\c", "*", "/\(long)", "/%00", "/\u{1F600}",
            "/image/-/w1/\(source)", "%", "/%ff", "CONNECT",
        ] {
            let json = line(target, cacheStatus: "a; detail=\"\u{1B}\u{1F600}\"").json
            #expect(json.utf8.dropLast().allSatisfy { $0 >= 0x20 && $0 < 0x7F })
            let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            #expect(object?["cache"] as? String == "a; detail=\"\u{1B}\u{1F600}\"")
            #expect(object?["path"] is String)
            #expect(line(target).text.utf8.dropLast().allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        }
    }
}
