import SystemSupport
import TestSupport

/// A server with one catalogue. A test can change it and make it fail.
final class CatalogueServer: Sendable {
    private let answer = Lock("")
    private let origins = Lock<[ScriptedOrigin]>([])

    var origin: ScriptedOrigin { origins.withLock { $0[0] } }
    var catalogue: String { origin.url("/films.json").absoluteString }

    /// - Parameter gate: opens before each answer. Default: none.
    init(_ films: String..., gate: Gate? = nil) throws {
        let origin = try ScriptedOrigin([
            .forever(
                (gate.map { [.wait($0)] } ?? []) + [
                    .respond { [weak self] _, _ in self?.answer.withLock { $0 } ?? "" }
                ])
        ])
        origins.withLock { $0 = [origin] }
        setFilms(films)
    }

    /// `{"id": "a", "title": "Film a", …}`
    static func film(_ id: String, score: Double = 5, poster: String? = nil) -> String {
        let poster = poster.map { #","poster":"\#($0)""# } ?? ""
        return
            #"{"id":"\#(id)","title":"Film \#(id).","year":1920,"director":"D","score":\#(score)\#(poster)}"#
    }

    /// Sets the server's films.
    func setFilms(_ films: [String]) {
        answer(FilmServer.response("200 OK", "{\"movies\":[\(films.joined(separator: ","))]}"))
    }

    /// Sets the server's answer; with an empty text it closes every connection.
    func answer(_ text: String) { answer.withLock { $0 = text } }

    /// Closes every connection without an answer.
    func disconnect() { answer("") }
}
