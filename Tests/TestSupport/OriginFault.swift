/// One fault in a server's, a proxy's or an attacker's answer, and its permitted outcome.
public struct OriginFault: Sendable, CustomStringConvertible {
    /// The permitted outcome.
    public enum Outcome: Sendable, Hashable {
        /// The right picture.
        case picture
        /// An error with one of these codes; nothing is stored.
        case error(Set<String>)
    }

    /// The fault, in words.
    public let name: String
    /// The steps of each connection. No step redirects to another server.
    public let steps: [ScriptedOrigin.Step]
    /// The permitted outcome.
    public let outcome: Outcome

    /// The name, for a test's report.
    public var description: String { name }

    init(_ name: String, _ outcome: Outcome, _ steps: [ScriptedOrigin.Step]) {
        self.name = name
        self.steps = [.readHead] + steps
        self.outcome = outcome
    }

    /// A fault whose answer ends with its connection.
    init(_ name: String, _ outcome: Outcome, _ answer: String, body: [UInt8] = SampleImages.png) {
        self.init(name, outcome, [.send(answer), .sendBytes(body)])
    }

    /// All faults.
    public static let all =
        broken + lengths + chunks + headers + statusLines + encodings + bodilessStatuses + challenges
        + locations

    static let png = SampleImages.png
    static let length = png.count

    // MARK: Truncated answers

    /// The answer up to the cut, and the codes that a client may report there.
    private static var cutPoints: [(place: String, answer: [UInt8], closed: Set<String>)] {
        let lost: Set<String> = ["connection-lost"]
        let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(length)\r\n\r\n"
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let size = String(length, radix: 16)
        let cutChunk: Set<String> = ["truncated", "connection-lost"]
        return [
            ("before anything", [], lost),
            ("in the status line", Array("HTTP/1.1 20".utf8), lost),
            ("after the status line", Array("HTTP/1.1 200 OK\r\n".utf8), lost),
            ("in a field's name", Array("HTTP/1.1 200 OK\r\nContent-Ty".utf8), lost),
            ("in a field's value", Array("HTTP/1.1 200 OK\r\nContent-Type: ima".utf8), lost),
            ("after a field", Array("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n".utf8), lost),
            ("after the header", Array(head.utf8), ["truncated", "connection-lost"]),
            ("in the body", Array(head.utf8) + png.prefix(30), ["truncated"]),
            ("before the last byte", Array(head.utf8) + png.dropLast(), ["truncated"]),
            ("in a chunk's size", Array((chunked + "4").utf8), cutChunk),
            ("in a chunk", Array((chunked + "\(size)\r\n").utf8) + png.prefix(20), cutChunk),
            (
                "before the last chunk", Array((chunked + "\(size)\r\n").utf8) + png + Array("\r\n".utf8),
                cutChunk
            ),
            (
                "in the trailer", Array((chunked + "\(size)\r\n").utf8) + png + Array("\r\n0\r\nX: y".utf8),
                cutChunk
            ),
        ]
    }

    private static var broken: [OriginFault] {
        cutPoints.flatMap { place, answer, closed in
            [
                OriginFault("closed \(place)", .error(closed), [.sendBytes(answer)]),
                OriginFault(
                    "reset \(place)", .error(closed.union(["connection-lost"])), [.sendBytes(answer), .reset]),
                OriginFault("stalled \(place)", .error(["timed-out"]), [.sendBytes(answer), .awaitClose]),
            ]
        }
    }

    // MARK: Lengths

    private static var lengths: [OriginFault] {
        func fault(_ name: String, _ outcome: Outcome, _ fields: String) -> OriginFault {
            OriginFault(name, outcome, "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")
        }
        return [
            fault(
                "a length that is too large by one", .error(["truncated"]), "Content-Length: \(length + 1)"),
            fault("a length of 0", .error(["empty"]), "Content-Length: 0"),
            fault(
                "the same length twice", .picture, "Content-Length: \(length)\r\nContent-Length: \(length)"),
            fault(
                "two lengths that differ", .error(["truncated", "malformed-response", "empty"]),
                "Content-Length: \(length)\r\nContent-Length: 5"),
            fault("a negative length", .error(["malformed-response"]), "Content-Length: -1"),
            fault(
                "the largest length there is", .error(["too-large"]), "Content-Length: 9223372036854775807"),
            fault("a length no number can hold", .picture, "Content-Length: 99999999999999999999"),
            fault("a length beyond the limit", .error(["too-large"]), "Content-Length: 100001"),
            fault("a length that is a word", .error(["malformed-response"]), "Content-Length: many"),
            fault("a length without a value", .error(["malformed-response", "empty"]), "Content-Length:"),
            fault("no length at all", .picture, "Content-Type: image/png"),
            OriginFault(
                "a body longer than the limit by one byte", .error(["too-large"]), "HTTP/1.1 200 OK\r\n\r\n",
                body: SampleImages.png(bytes: 100_001)),
        ]
    }

    // MARK: Chunks

    private static var chunks: [OriginFault] {
        func fault(
            _ name: String, _ outcome: Outcome, size: String, after: String = "\r\n0\r\n\r\n",
            fields: String = ""
        ) -> OriginFault {
            OriginFault(
                name, outcome,
                [
                    .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(fields)\r\n\(size)\r\n"),
                    .sendBytes(png), .send(after),
                ])
        }
        let size = String(length, radix: 16)
        let broken = Outcome.error(["malformed-response", "connection-lost", "truncated"])
        return [
            fault("chunks and a length that disagree", .picture, size: size, fields: "Content-Length: 5\r\n"),
            fault("a chunk's size that is no number", broken, size: "xyz"),
            fault("a negative chunk", broken, size: "-5"),
            fault("a chunk too large for any number", broken, size: "FFFFFFFFFFFFFFFFFFFF"),
            fault("a chunk larger than what comes", broken, size: "FFFF"),
            fault("a chunk smaller than what comes", broken, size: "5"),
            fault("a chunk without its line end", broken, size: size, after: "0\r\n\r\n"),
            fault("a chunk's size with an extension", .picture, size: "\(size);name=\"value\""),
            fault(
                "a trailer", .picture, size: size, after: "\r\n0\r\nX-Check: yes\r\nContent-Length: 5\r\n\r\n"
            ),
            OriginFault(
                "a chunk's size without an end", broken,
                [
                    .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                    .forever([.send(String(repeating: "0", count: 100))]),
                ]),
            OriginFault(
                "chunks without an end", .error(["too-large"]),
                [
                    .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                    .forever([.send("400\r\n" + String(repeating: "x", count: 1024) + "\r\n")]),
                ]),
            OriginFault(
                "another transfer encoding", .error(["malformed-response", "not-an-image", "truncated"]),
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\nContent-Length: \(length)\r\n\r\n"),
        ]
    }

    // MARK: Encodings

    private static var encodings: [OriginFault] {
        func fault(_ name: String, encoding: String, _ body: some Collection<UInt8>, _ outcome: Outcome)
            -> OriginFault
        {
            OriginFault(
                name, outcome,
                "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: \(body.count)\r\n\r\n",
                body: Array(body))
        }
        // The header of a gzip member (RFC 1952 section 2.3), followed by an endless repeating block.
        let member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        let bomb = member + [0xEC, 0xC1, 0x01, 0x01] + [UInt8](repeating: 0, count: 5000)
        let long = SampleImages.gzip.dropLast(4) + [0xA1, 0x86, 1, 0]
        let refused = Outcome.error(["encoded-content"])
        let unreadable = Outcome.error(["malformed-response"])
        return [
            fault("a body in gzip", encoding: "gzip", SampleImages.gzip, .picture),
            fault(
                "an empty body in gzip", encoding: "x-gzip", member + [3, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                .error(["empty"])),
            fault(
                "a body in gzip that is cut short", encoding: "gzip", SampleImages.gzip.dropLast(20),
                .error(["malformed-response", "too-large"])),
            fault("a body that only says gzip", encoding: "gzip", png, unreadable),
            fault("a body in gzip that grows a thousandfold", encoding: "gzip", bomb, unreadable),
            fault(
                "a body in gzip that says to be too long", encoding: "gzip", Array(long),
                .error(["too-large"])),
            fault("a body in gzip twice", encoding: "gzip, gzip", SampleImages.gzip, refused),
            fault("a body encoded twice", encoding: "gzip, br", png, refused),
            fault("a body in brotli", encoding: "br", png, refused),
            fault("a body in an encoding nobody knows", encoding: "x-unknown", png, .picture),
            fault("a body of a bucket", encoding: "aws-chunked,base64", png, .picture),
            fault("a body encoded as itself", encoding: "identity", png, .picture),
        ]
    }

    // MARK: Statuses

    private static var bodilessStatuses: [OriginFault] {
        let other = Outcome.error(["http-status"])
        return [
            OriginFault(
                "a 204 with a body", other, "HTTP/1.1 204 No Content\r\nContent-Length: \(length)\r\n\r\n"),
            OriginFault("a 205", other, "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", body: []),
            OriginFault(
                "a 206 nobody asked for", other,
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-69/70\r\nContent-Length: \(length)\r\n\r\n"
            ),
            OriginFault("a 304 nobody asked for", other, "HTTP/1.1 304 Not Modified\r\n\r\n", body: []),
            OriginFault(
                "a 304 with a body", other, "HTTP/1.1 304 Not Modified\r\nContent-Length: \(length)\r\n\r\n"),
            OriginFault(
                "a 404 with a picture", other, "HTTP/1.1 404 Not Found\r\nContent-Length: \(length)\r\n\r\n"),
            OriginFault(
                "a 416 nobody asked for", other,
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n", body: []),
        ]
    }

    private static var challenges: [OriginFault] {
        [
            "Basic realm=\"films\"", "Basic",
            "Digest realm=\"films\", nonce=\"abc\", qop=\"auth\", algorithm=MD5",
            "Digest realm=\"films", "Bearer realm=\"films\", error=\"invalid_token\"", "Negotiate", "",
            ",,, = \"",
            "Basic realm=\"\u{1B}[2J\"",
        ].map { challenge in
            OriginFault(
                "a 401 with the challenge \(challenge.debugDescription)", .error(["http-status"]),
                "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: \(length)\r\n\r\n"
            )
        }
    }
}
