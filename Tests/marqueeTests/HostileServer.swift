import TestSupport

/// A server with hostile text in its answers: in the reason, in fields that errors quote, in Location, in the
/// body. Each connection gets one answer, with another text or another place than the one before.
enum HostileServer {
    /// The number of different answers.
    static var answers: Int { HostileTextTests.strings.count * places.count }

    static func started() throws -> ScriptedOrigin {
        try ScriptedOrigin { connection in
            let text = HostileTextTests.strings[connection / places.count % HostileTextTests.strings.count]
            return [.readHead, .send(places[connection % places.count](text))]
        }
    }

    private static let places: [@Sendable (String) -> String] = [
        { "HTTP/1.1 404 Not \($0) Found\r\nX-Why: \($0)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" },
        {
            "HTTP/1.1 200 \($0)\r\nContent-Type: image/\($0)\r\nContent-Length: \(2 + $0.utf8.count)\r\n"
                + "Connection: close\r\n\r\n..\($0)"
        },
        {
            "HTTP/1.1 302 \($0)\r\nLocation: gopher://\($0)/\($0)\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n"
        },
        {
            "HTTP/1.1 200 OK\r\nContent-Encoding: \($0)\r\nContent-Length: 2\r\nConnection: close\r\n\r\n.."
        },
        {
            "HTTP/1.1 401 \($0)\r\nWWW-Authenticate: \($0) realm=\"\($0)\"\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n"
        },
    ]
}
