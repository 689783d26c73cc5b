extension OriginFault {
    // MARK: Headers

    static var headers: [OriginFault] {
        func fault(_ name: String, _ outcome: Outcome, _ line: String) -> OriginFault {
            OriginFault(name, outcome, "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: \(length)\r\n\r\n")
        }
        let long = String(repeating: "x", count: 4000)
        return [
            fault("a header line without a colon", .error(["malformed-response"]), "no colon at all"),
            fault("a header line without a space after the colon", .picture, "X-Test:yes"),
            fault("a space before the colon", .picture, "X-Test : yes"),
            fault("a folded header line", .picture, "X-Test: one\r\n two"),
            fault("a header line without a name", .picture, ": value"),
            fault("an escape sequence in a header line", .picture, "X-Test: \u{1B}[2J\u{1B}]0;x\u{7}"),
            fault(
                "a NUL in a header line", .error(["malformed-response", "connection-lost"]), "X-Test: a\0b"),
            fault(
                "thousands of header lines", .picture,
                Array(repeating: "X: y", count: 3000).joined(separator: "\r\n")),
            OriginFault(
                "a header that is no UTF-8", .picture,
                [
                    .sendBytes(Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [0xFF, 0xFE, 0xE4]),
                    .send("\r\nContent-Length: \(length)\r\n\r\n"), .sendBytes(png),
                ]),
            OriginFault("bare line feeds", .picture, "HTTP/1.1 200 OK\nContent-Length: \(length)\n\n"),
            OriginFault(
                "a header line without an end", .error(["malformed-response"]),
                [.send("HTTP/1.1 200 OK\r\nX: "), .forever([.send(long)])]),
            OriginFault(
                "header lines without an end", .error(["malformed-response"]),
                [.send("HTTP/1.1 200 OK\r\n"), .forever([.send("X: \(long)\r\n")])]),
            OriginFault(
                "interim answers without an end", .error(["malformed-response"]),
                [.forever([.send("HTTP/1.1 103 Early Hints\r\nX: \(long)\r\n\r\n")])]),
            OriginFault(
                "interim answers and then the picture", .picture,
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                    + "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"),
            OriginFault(
                "a body without an end", .error(["too-large"]),
                [.send("HTTP/1.1 200 OK\r\n\r\n"), .forever([.send(long)])]),
            OriginFault(
                "a picture with another type's name", .picture,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(length)\r\n\r\n"),
            OriginFault(
                "a web page with a picture's type", .error(["not-an-image"]),
                "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 20\r\n\r\n",
                body: Array("<html>log in</html>\n".utf8)),
        ]
    }

    // MARK: Status lines

    static var statusLines: [OriginFault] {
        func fault(_ line: String, _ outcome: Outcome) -> OriginFault {
            OriginFault("the status line \(line)", outcome, "\(line)\r\nContent-Length: \(length)\r\n\r\n")
        }
        let malformed = Outcome.error(["malformed-response", "http-status", "connection-lost"])
        return [
            fault("HTTP/1.1 200", .picture), fault("HTTP/1.0 200 OK", .picture),
            fault("HTTP/1.1 99 Too Low", malformed), fault("HTTP/1.1 600 Too High", malformed),
            fault("HTTP/1.1 1000 Far Too High", malformed), fault("HTTP/1.1 2OO OK", malformed),
            fault("HTTP/1.1 -200 OK", malformed), fault("HTTP/9.9 200 OK", malformed),
            fault("HTTP/1.1", malformed),
            fault("ICY 200 OK", malformed), fault("SSH-2.0-OpenSSH_9.2", malformed),
            OriginFault("a picture without a header", malformed, [.sendBytes(png)]),
        ]
    }

    // MARK: Redirect targets

    static var locations: [OriginFault] {
        let refused = Outcome.error(["redirect-refused"])
        // These lead back to the same server, which redirects again.
        let loop = Outcome.error(["too-many-redirects", "redirect-loop"])
        let faults: [(String, Outcome)] = [
            ("javascript:alert(1)", refused), ("data:image/png;base64,AAAA", refused),
            ("ftp://example.org/a.png", refused), ("file:///etc/passwd", refused),
            ("http://example.org/a.png", refused), ("http://user:secret@localhost/a.png", refused),
            ("", .error(["http-status", "redirect-refused", "too-many-redirects", "redirect-loop"])),
            ("//", .error(["http-status", "redirect-refused"])), ("http://", refused), ("#fragment", loop),
            ("?", loop), ("a b.png", loop),
            ("\u{1B}[2J.png", .error(["redirect-refused", "too-many-redirects", "redirect-loop"])),
            (
                "/" + String(repeating: "x", count: 100_000),
                .error(["too-many-redirects", "redirect-loop", "malformed-response", "redirect-refused"])
            ),
            ("http://localhost:99999/a.png", refused),
        ]
        return faults.map { location, outcome in
            let shown = location.count > 60 ? "a very long path" : location.debugDescription
            return OriginFault(
                "a redirect to \(shown)", outcome,
                [
                    .forever([
                        .send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"),
                        .readHead,
                    ])
                ])
        }
    }
}
