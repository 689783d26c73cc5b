import TestTraits
import Testing

@testable import HTTPServer

@Suite("RequestHead", .bounded)
struct RequestHeadTests {
    private func parse(_ text: String) throws(RequestHead.Refusal) -> RequestHead {
        try RequestHead(parsing: Array(text.utf8)[...])
    }

    private func refusal(_ text: String) -> RequestHead.Refusal? {
        do {
            _ = try parse(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("a head is parsed into its parts")
    func parts() throws {
        let head = try parse(
            "GET /a%20b?c HTTP/1.1\r\nHOST: x\r\nAccept:a\r\naccept:\t b c\t \r\nempty: \r\nlatin: caf\u{e9}")
        #expect(head.method == "GET")
        #expect(head.target == "/a%20b?c")
        #expect(head.minorVersion == 1)
        #expect(head.fields.fields.map(\.name) == ["HOST", "Accept", "accept", "empty", "latin"])
        #expect(head.fields.values(of: "accept") == ["a", "b c"])
        #expect(head.value(of: "accept") == nil)
        #expect(head.value(of: "host") == "x")
        #expect(head.value(of: "empty") == "")
        #expect(head.value(of: "latin") == "caf\u{e9}")
        let latin1 = Array("GET /\u{1}a HTTP/1.0".utf8).map { $0 == 1 ? 0xE9 : $0 }
        #expect(try RequestHead(parsing: latin1[...]).target == "/\u{FFFD}a")
    }

    @Test(
        "a malformed head is refused",
        arguments: [
            // Lines that end in a line feed alone, or contain a carriage return alone.
            "GET / HTTP/1.1\nHost: x", "GET / HTTP/1.1\r\nHost: x\nA: b", "GET / HTTP/1.1\r\nHost: x\n",
            "GET / HTTP/1.1\rHost: x", "GET / HTTP/1.1\r\nHost: x\rA: b", "GET / HTTP/1.1\r\nHost: x\r",
            "GET / HTTP/1.1\r\nHost: x\r\r\nA: b", "GET /\nHost: x HTTP/1.1", "\nGET / HTTP/1.0",
            "GET / HTTP/1.1\r\nHost: x\r\nA\n: b", "GET / HTTP/1.1\r\nHost: x\r\nA:\n b",
            "", "GET", "GET /", "GET  / HTTP/1.1\r\nHost: x", "GET / HTTP/1.1 \r\nHost: x",
            " GET / HTTP/1.1\r\nHost: x",
            "G(T / HTTP/1.1\r\nHost: x", "GET /\u{1} HTTP/1.1\r\nHost: x", "GET / http/1.1\r\nHost: x",
            "GET / HTTP/1.10\r\nHost: x", "GET / HTTP/x.1\r\nHost: x",
            "GET / HTTP/1.1\r\nHost: x\r\nno colon",
            "GET / HTTP/1.1\r\nHost: x\r\nname : value", "GET / HTTP/1.1\r\nHost: x\r\n: value",
            "GET / HTTP/1.1\r\nHost: x\r\n folded: value", "GET / HTTP/1.1\r\nHost: x\r\na: b\rc",
            "GET / HTTP/1.1\r\nHost: x\r\na: \u{0}", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1",
            "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2",
            "GET / HTTP/1.1\r\nHost: x\r\nContent-Length:",
            "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999",
            "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1",
        ])
    func grammar(text: String) {
        guard case .badRequest = refusal(text) else {
            Issue.record("\(text.debugDescription) gave \(String(describing: refusal(text)))")
            return
        }
    }

    @Test("HTTP/1.1 needs one Host, HTTP/1.0 none")
    func host() {
        #expect(refusal("GET / HTTP/1.1") == .badRequest("exactly one Host is required"))
        #expect(
            refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: a")
                == .badRequest("exactly one Host is required"))
        #expect(refusal("GET / HTTP/1.1\r\nHost:") == nil)
        #expect(refusal("GET / HTTP/1.0") == nil)
    }

    @Test("the body's length comes from Content-Length or from the chunks")
    func framing() throws {
        #expect(try parse("GET / HTTP/1.1\r\nHost: x").framing == .none)
        #expect(try parse("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 12").framing == .length(12))
        #expect(try parse("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked").framing == .chunked)
    }

    @Test(
        "a body whose end two servers could place differently is refused, whatever the host",
        arguments: [
            "Content-Length: 1\r\nTransfer-Encoding: chunked", "Content-Length: 1\r\nContent-Length: 1",
            "Content-Length: 1\r\nContent-Length: 2",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        ])
    func smuggling(fields: String) {
        for host in ["", "Host: x\r\n", "Host: a\r\nHost: b\r\n"] {
            guard case .badRequest(let reason) = refusal("POST / HTTP/1.1\r\n\(host)\(fields)") else {
                Issue.record("\(fields) was taken")
                continue
            }
            #expect(!reason.contains("Host"))
        }
        #expect(refusal("POST / HTTP/1.0\r\nTransfer-Encoding: chunked") != nil)
    }

    @Test("another HTTP version and a transfer coding other than chunked are refused with their own status")
    func notSupported() {
        #expect(refusal("GET / HTTP/2.0\r\nHost: x") == .versionNotSupported)
        #expect(
            refusal("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked") == .codingNotSupported)
    }

    @Test(
        "version and Connection decide whether the connection stays open",
        arguments: [
            ("1.1", "", true), ("1.1", "Connection: close", false), ("1.1", "Connection: foo, CLOSE", false),
            ("1.0", "", false), ("1.0", "Connection: Keep-Alive", true),
            ("1.0", "Connection: keep-alive, close", false),
        ])
    func keepAlive(version: String, field: String, expected: Bool) throws {
        #expect(
            try parse("GET / HTTP/\(version)\r\nHost: x\r\n\(field.isEmpty ? "a: b" : field)").wantsKeepAlive
                == expected)
    }

    @Test("a list is joined from all its lines, without empty members")
    func list() throws {
        let head = try parse("GET / HTTP/1.0\r\nIf-None-Match: \"a\",, \"b\" \r\nIf-None-Match: \"c\"")
        #expect(head.list("if-none-match") == ["\"a\"", "\"b\"", "\"c\""])
    }
}
