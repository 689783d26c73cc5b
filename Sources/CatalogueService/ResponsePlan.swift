import HTTPSemantics

/// An answer decided but not sent: status, header fields and what bytes follow.
struct ResponsePlan: Sendable {
    enum Body: Hashable, Sendable {
        case bytes([UInt8])
        /// A range of the file that was asked for.
        case file(Range<Int>)
        /// None, although the fields may tell of one: the answer to HEAD, and 304.
        case none

        /// In bytes.
        var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .file(let part): part.count
            case .none: 0
            }
        }
    }

    var status: HTTPStatus
    /// What is particular to this answer; `head` adds what every answer has.
    var fields: [(name: String, value: String)]
    var body: Body
    /// Whether the connection ends after this answer.
    var closes = false

    /// A short plain answer that says no more than its status and, where it helps, why.
    static func plain(_ status: HTTPStatus, _ reason: String? = nil, closes: Bool = false) -> ResponsePlan {
        var plan = text(
            "\(status.rawValue) \(status.reason)" + (reason.map { ": \($0)" } ?? "") + "\n", status: status)
        plan.fields.append(("Cache-Control", "no-store"))
        if status == .methodNotAllowed { plan.fields.append(("Allow", "GET, HEAD")) }
        if status == .serviceUnavailable { plan.fields.append(("Retry-After", "1")) }
        plan.closes = closes
        return plan
    }

    static func text(_ text: String, status: HTTPStatus = .ok) -> ResponsePlan {
        let body = Array(text.utf8)
        return ResponsePlan(
            status: status,
            fields: [("Content-Type", MediaType.plainText), ("Content-Length", "\(body.count)")],
            body: .bytes(body))
    }

    /// The answer to a head that is refused. What follows it cannot be told apart from its body.
    static func refusing(_ refusal: RequestHead.Refusal) -> ResponsePlan {
        switch refusal {
        case .badRequest(let reason): plain(.badRequest, reason, closes: true)
        case .versionNotSupported: plain(.versionNotSupported, closes: true)
        case .codingNotSupported: plain(.notImplemented, "a request body is not read", closes: true)
        }
    }

    /// The answer to GET or HEAD of a file. `cacheSeconds` is how long it counts as fresh.
    static func serving(
        _ file: FileMetadata, mediaType: String, to request: RequestHead, cacheSeconds: Int, now: Int
    ) -> ResponsePlan {
        let conditions = Preconditions(request: request, file: file, now: now)
        var fields = [
            ("ETag", file.entityTag),
            // A date ahead of the clock would be a lie by the time it is read (RFC 9110 section 8.8.2.1).
            ("Last-Modified", HTTPDate.format(min(file.seconds, now))),
            ("Cache-Control", "max-age=\(cacheSeconds)"),
        ]
        switch conditions.outcome {
        case .failed: return plain(.preconditionFailed)
        case .notModified: return ResponsePlan(status: .notModified, fields: fields, body: .none)
        case .proceed: break
        }
        fields.append(("Accept-Ranges", "bytes"))
        let range = request.method == "GET" && conditions.allowsRange ? request.value(of: "range") : nil
        switch RangeHeader(range, size: file.size) {
        case .unsatisfiable:
            var plan = plain(.rangeNotSatisfiable)
            plan.fields.append(("Content-Range", "bytes */\(file.size)"))
            return plan
        case .part(let part):
            fields.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.size)"))
            fields += [("Content-Type", mediaType), ("Content-Length", "\(part.count)")]
            return ResponsePlan(status: .partialContent, fields: fields, body: .file(part))
        case .whole:
            fields += [("Content-Type", mediaType), ("Content-Length", "\(file.size)")]
            return ResponsePlan(status: .ok, fields: fields, body: .file(0..<file.size))
        }
    }

    /// The bytes of the head, blank line included. `keepAlive` says whether the connection stays open, to a
    /// client of this minor version.
    func head(now: Int, keepAlive: Bool, minorVersion: Int) -> [UInt8] {
        var text = "HTTP/1.1 \(status.rawValue) \(status.reason)\r\nDate: \(HTTPDate.format(now))\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        text += "X-Content-Type-Options: nosniff\r\n"
        if !keepAlive {
            text += "Connection: close\r\n"
        } else if minorVersion == 0 {
            text += "Connection: keep-alive\r\n"
        }
        return Array((text + "\r\n").utf8)
    }
}
