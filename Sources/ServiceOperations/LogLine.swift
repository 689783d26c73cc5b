internal import HTTPSemantics
internal import HTTPServer

/// One request as a line of a log.
///
///     {"time":"2026-11-22T15:49:34.123Z","id":"5f1c2a00000012b","method":"GET","path":"/image/*/w342/*","source":"https://example.org/a.jpg","status":200,"bytes":18231,"ms":3.214,"client":"203.0.113.7","cache":"marquee; hit"}
///     {"time":"2026-11-22T15:49:35.250Z","id":"5f1c2a00000012c","method":"POST","path":"/films","status":201,"bytes":182,"ms":4.051,"client":"203.0.113.7","writer":"laptop"}
///
///     2026-11-22T15:49:34.123Z 203.0.113.7 "GET /image/*/w342/*" 200 18231 3.214 ms "https://example.org/a.jpg" "marquee; hit" "5f1c2a00000012b" -
///
/// A line has no secrets: no query, user information, request field or signature. It has visible ASCII characters only,
/// so that it cannot steer a terminal or look like two lines.
struct LogLine {
    let answer: HTTPServer.Answer
    let client: IPAddress?
    /// The end of the answer, in milliseconds since 1970.
    let time: Int

    var json: String {
        let path = LogPath(answer.target)
        var line = "{\"time\":\"\(LogTime.text(time))\",\"id\":\(Self.quoted(answer.id))"
        line += ",\"method\":\(Self.quoted(answer.method)),\"path\":\(Self.quoted(path.text))"
        if let source = path.source { line += ",\"source\":\(Self.quoted(source))" }
        line += ",\"status\":\(answer.status),\"bytes\":\(answer.bytes),\"ms\":\(milliseconds)"
        if let client { line += ",\"client\":\"\(client)\"" }
        if let writer = answer.writer { line += ",\"writer\":\(Self.quoted(writer))" }
        if let cache = answer.cacheStatus { line += ",\"cache\":\(Self.quoted(cache))" }
        return line + "}\n"
    }

    var text: String {
        let path = LogPath(answer.target)
        var line = "\(LogTime.text(time)) \(client.map { "\($0)" } ?? "-")"
        line += " \(Self.quoted("\(answer.method) \(path.text)")) \(answer.status) \(answer.bytes)"
        line += " \(milliseconds) ms \(path.source.map(Self.quoted) ?? "-")"
        line += " \(answer.cacheStatus.map(Self.quoted) ?? "-") \(Self.quoted(answer.id))"
        return line + " \(answer.writer.map(Self.quoted) ?? "-")\n"
    }

    private var milliseconds: String {
        let microseconds = max(0, Int(answer.time / .microseconds(1)))
        return "\(microseconds / 1000).\(LogTime.padded(microseconds % 1000, 3))"
    }

    /// A JSON string in visible ASCII (RFC 8259 section 7).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22: quoted += "\\\""
            case 0x5C: quoted += "\\\\"
            case 0x20..<0x7F: quoted.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return quoted + "\""
    }
}

/// The parts of a request's target that a log may show.
package struct LogPath: Hashable, Sendable {
    /// The path alone. In a picture's address, the signature is shown as `*` unless it is `-`. The encoded source is
    /// `*` too, because it may hold a secret.
    package let text: String
    /// The address of the picture, without user information, query and fragment.
    package let source: String?

    /// - Parameter target: the request's target, as the client sent it.
    package init(_ target: String) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        guard let segments = try? RequestTarget(String(decoding: path, as: UTF8.self)).segments else {
            // Losing the error is right: an unreadable target may hold anything, so the log shows none of it.
            (text, source) = ("*", nil)
            return
        }
        var shown = segments.map(PercentEncoding.encoded)
        var source: String?
        if let image = Self.picture(in: segments) {
            for (index, segment) in segments.enumerated().dropFirst(image + 1) {
                let isRecipe = index == image + 2
                if !isRecipe, segment != "-" { shown[index] = "*" }
            }
            source = segments.count == image + 4 ? Self.source(segments[image + 3]) : nil
        }
        text = "/" + shown.joined(separator: "/")
        self.source = source
    }

    /// The index of `image` in `/image/{signature}/{recipe}/{source}`: at the beginning, or behind a prefix that a
    /// proxy or a mistake has added.
    private static func picture(in segments: [String]) -> Int? {
        segments.indices.first { index in
            segments[index] == "image" && (index == 0 || segments.count - index >= 4)
        }
    }

    private static func source(_ encoded: String) -> String? {
        guard let bytes = Base64URL.decode(encoded) else { return nil }
        // Compares bytes: Swift may join a question mark with a combining accent, but it still begins a query.
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let rest = bytes[(colon + 3)...]
        let authority = rest.prefix { !"/?#\\".utf8.contains($0) }
        let host = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
        let name = String(decoding: host, as: UTF8.self)
        // Text that is not a host may be part of a password with a slash in it.
        guard HostAndPort(name) != nil else { return nil }
        let path = rest[authority.endIndex...].prefix { !"?#".utf8.contains($0) }
        return PercentEncoding.visible(
            String(decoding: bytes[..<colon], as: UTF8.self) + "://" + name
                + String(decoding: path, as: UTF8.self))
    }
}
