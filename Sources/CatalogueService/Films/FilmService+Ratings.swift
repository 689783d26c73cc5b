import FilmLibrary
import HTTPSemantics
import HTTPServer
import MovieCatalogue

extension FilmService {
    /// One vote, and the film's score of all votes.
    func rating(of id: String, by rater: String, _ call: FilmCall) throws -> HTTPResponse {
        guard let film = try library.film(id) else { throw FilmRefusal.notFound(id) }
        guard let value = try library.rating(of: id, by: rater) else { throw Self.noRating(id, rater) }
        return rating(value, film, call)
    }

    /// Sets a vote. Repeating it changes nothing.
    func rate(_ id: String, by rater: String, _ call: FilmCall, _ body: [UInt8]) throws -> HTTPResponse {
        let value = try IncomingRating(body, try FilmContent(call)).value
        let isNew = try library.rating(of: id, by: rater) == nil
        guard let film = try library.rate(id, rater: rater, value: value) else {
            throw FilmRefusal.notFound(id)
        }
        return rating(value, film, call, status: isNew ? .created : .ok)
    }

    /// Removes a vote.
    func unrate(_ id: String, by rater: String, _ call: FilmCall) throws -> HTTPResponse {
        guard try library.film(id) != nil else { throw FilmRefusal.notFound(id) }
        guard try library.rating(of: id, by: rater) != nil else { throw Self.noRating(id, rater) }
        _ = try library.unrate(id, rater: rater)
        return HTTPResponse(status: .noContent)
    }

    private static func noRating(_ id: String, _ rater: String) -> FilmRefusal {
        FilmRefusal(.notFound, "\"\(rater)\" has not rated the film \"\(id)\"")
    }

    private func rating(
        _ value: Double, _ film: StoredFilm, _ call: FilmCall, status: HTTPStatus = .ok
    ) -> HTTPResponse {
        var members = [("value", JSONText(value))]
        if let rating = film.rating { members.append(("rating", JSONText(rating))) }
        members.append(("votes", JSONText(film.votes)))
        let text =
            switch call.format {
            case .json, .html:
                JSONText(members: members.map { JSONText.Member(name: $0.0, value: $0.1) }).text + "\n"
            case .xml:
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rating>"
                    + members.map { "<\($0.0)>\($0.1.text)</\($0.0)>" }.joined() + "</rating>\n"
            }
        return call.response(Array(text.utf8), status: status)
    }
}
