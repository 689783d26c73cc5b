import FoundationEssentials

/// What the disk tier keeps of an answer beside its body, as text:
///
///     200 1763714400 https://example.org/posters/1.jpg
///     Content-Type: image/jpeg
///     ETag: "5f3-61"
///
/// The first line is the status, when the answer came (seconds since 1970), and where from, after redirects. The fields
/// follow, one a line, without those that concern the connection or another request (RFC 9111 section 3.1).
struct StoredResponse: Equatable {
    var status: Int
    var received: Int
    var url: String
    var fields: HTTPFields

    init(_ head: ResponseHead, url: URL, received: Date) {
        status = head.status
        self.received = Int(received.timeIntervalSince1970)
        self.url = url.absoluteString
        fields = HTTPFields()
        for field in head.fields.fields where !Self.unkept.contains(field.name.lowercased()) {
            // Told by bytes: as characters, CR LF is one, and a mark joins the space before it.
            guard !(field.name + field.value).utf8.contains(UInt8(ascii: "\n")) else { continue }
            fields.append(field)
        }
    }

    /// Reads what `encoded` wrote; nil for anything else.
    init?(decoding bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard let first = lines.first?.split(separator: UInt8(ascii: " "), maxSplits: 2).map(Self.text),
            first.count == 3,
            let status = Int(first[0]), let received = Int(first[1])
        else { return nil }
        self.status = status
        self.received = received
        url = first[2]
        fields = HTTPFields()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[colon...].starts(with: ": ".utf8)
            else {
                return nil
            }
            fields.append(
                HTTPFields.Field(name: Self.text(line[..<colon]), value: Self.text(line[(colon + 2)...])))
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    var encoded: [UInt8] {
        var text = "\(status) \(received) \(url)\n"
        for field in fields.fields { text += "\(field.name): \(field.value)\n" }
        return Array(text.utf8)
    }

    private static let unkept: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "set-cookie", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}
