import FoundationEssentials
import SystemSupport
import TestSupport

/// A simple film service in memory, with versions as entity tags. A test can make its requests fail.
final class FilmServer: Sendable {
    /// A failure in place of the answer. The request may still take effect.
    enum Fault: Sendable {
        /// The request takes effect, and then the connection is reset.
        case loseAnswer
        /// Answers with this, and the request has no effect.
        case refuse(String)
    }

    private struct State {
        var films: [String: (json: String, version: Int)] = [:]
        var faults: [(method: String, fault: Fault)] = []
    }

    private let state = Lock(State())
    private let origins = Lock<[ScriptedOrigin]>([])

    var origin: ScriptedOrigin {
        origins.withLock { $0[0] }
    }
    var catalogue: String { origin.url("/films").absoluteString }

    init(_ films: [String: String] = [:]) throws {
        for (id, json) in films { state.withLock { $0.films[id] = (json, 1) } }
        let origin = try ScriptedOrigin([
            .forever([.respond { [weak self] head, body in self?.answer(head, body) ?? "" }])
        ])
        origins.withLock { $0 = [origin] }
    }

    /// Makes the next request with this method fail.
    func fail(_ method: String, _ fault: Fault) { state.withLock { $0.faults.append((method, fault)) } }

    func film(_ id: String) -> String? { state.withLock { $0.films[id]?.json } }

    /// The method and path of every request, such as `GET /films/a`.
    var requests: [String] {
        origin.heads.map {
            $0.split(separator: "\r\n")[0].split(separator: " ").prefix(2).joined(separator: " ")
        }
    }

    static func response(_ status: String, _ body: String = "", fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
            + body
    }

    private func answer(_ head: String, _ body: [UInt8]) -> String {
        let words = head.split(separator: " ")
        let (method, path) = (String(words[0]), String(words[1]))
        let fault = state.withLock { state -> Fault? in
            guard let index = state.faults.firstIndex(where: { $0.method == method }) else { return nil }
            return state.faults.remove(at: index).fault
        }
        if case .refuse(let response)? = fault { return response }
        let answer = obey(method, path, head, String(decoding: body, as: UTF8.self))
        if case .loseAnswer? = fault { return "" }
        return answer
    }

    private func obey(_ method: String, _ path: String, _ head: String, _ body: String) -> String {
        let segments = path.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        guard segments.first == "films" else { return Self.response("404 Not Found") }
        return state.withLock { state in
            let id = segments.count > 1 ? segments[1] : Self.id(in: body)
            let film = state.films[id]
            func shown(_ status: String) -> String {
                guard let film = state.films[id] else { return Self.response("404 Not Found", "{}") }
                return Self.response(status, film.json, fields: "ETag: \"\(film.version)\"\r\n")
            }
            if segments.count == 1, method == "GET" {
                let films = state.films.sorted { $0.key < $1.key }.map(\.value.json)
                return Self.response("200 OK", "{\"movies\":[\(films.joined(separator: ","))]}")
            }
            if segments.count > 2 {
                // Simplified: every vote that is removed was there.
                if method == "DELETE" { state.films[id]?.version += 1 }
                return Self.response("200 OK", "{}")
            }
            if let film, let tag = Self.field("If-Match", head), tag != "\"\(film.version)\"" {
                return Self.response("412 Precondition Failed", "{}")
            }
            switch method {
            case "POST":
                if film != nil { return Self.response("409 Conflict", "{}") }
                state.films[id] = (body, 1)
                return shown("201 Created")
            case "PATCH":
                guard let film else { return shown("") }
                // Simplified: new members are appended.
                state.films[id] = (film.json.dropLast() + "," + body.dropFirst(), film.version + 1)
                return shown("200 OK")
            case "DELETE":
                guard film != nil else { return shown("") }
                state.films[id] = nil
                return Self.response("204 No Content")
            default: return shown("200 OK")
            }
        }
    }

    private static func id(in body: String) -> String {
        guard let start = body.firstRange(of: "\"id\":\"") else { return "" }
        return String(body[start.upperBound...].prefix { $0 != "\"" })
    }

    private static func field(_ name: String, _ head: String) -> String? {
        head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }
}
