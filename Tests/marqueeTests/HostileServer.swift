import TestSupport
import Testing

/// A server with hostile text in its answers. Each connection gets one answer, with another text than the one before.
enum HostileServer {
    /// A place for the text in an answer.
    struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        fileprivate let answer: @Sendable (_ text: String) -> String

        fileprivate init(_ name: String, _ answer: @escaping @Sendable (String) -> String) {
            testDescription = name
            self.answer = answer
        }
    }

    static func started(_ place: Place) throws -> ScriptedOrigin {
        let texts = HostileTextTests.strings
        return try ScriptedOrigin { connection in
            [.readHead, .send(place.answer(texts[connection % texts.count]))]
        }
    }

    static let places = [
        Place("the reason of a 404") {
            "HTTP/1.1 404 Not \($0) Found\r\nX-Why: \($0)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        },
        Place("the type and the body") {
            "HTTP/1.1 200 \($0)\r\nContent-Type: image/\($0)\r\nContent-Length: \(2 + $0.utf8.count)\r\n"
                + "Connection: close\r\n\r\n..\($0)"
        },
        Place("Location") {
            "HTTP/1.1 302 \($0)\r\nLocation: gopher://\($0)/\($0)\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n"
        },
        Place("Content-Encoding") {
            "HTTP/1.1 200 OK\r\nContent-Encoding: \($0)\r\nContent-Length: 2\r\nConnection: close\r\n\r\n.."
        },
        Place("a challenge") {
            "HTTP/1.1 401 \($0)\r\nWWW-Authenticate: \($0) realm=\"\($0)\"\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n"
        },
    ]
}
