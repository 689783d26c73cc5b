import HTTPSemantics
import MovieCatalogue

/// A vote in a request:
///
///     {"value": 8.5}        <rating><value>8.5</value></rating>        value=8.5
struct IncomingRating: Sendable {
    /// 0 to 10.
    let value: Double

    init(_ body: [UInt8], _ content: FilmContent) throws(FilmRefusal) {
        let given: JSONText?
        switch content {
        case .json:
            let document = try IncomingFilm.json(body)
            given = document["value"] ?? document["rating"]?.members?.first { $0.name == "value" }?.value
        case .xml: given = try Self.xml(body)["value"]
        case .form, .multipart:
            given = try FilmForm.fields(body).first { $0.name == "value" }.map { JSONText($0.value) }
        }
        guard let given else { throw .invalid("value", "is missing; send a number from 0 to 10") }
        // Values in XML and forms are text.
        let number = given.number ?? (content == .json ? nil : given.string.flatMap { Double($0) })
        guard let number, Movie.scores.contains(number) else {
            throw .invalid("value", "must be a number from 0 to 10")
        }
        value = number
    }

    private static func xml(_ bytes: [UInt8]) throws(FilmRefusal) -> FilmDocument {
        do throws(CatalogueError) {
            return try FilmDocument(xmlContent: bytes, root: "rating")
        } catch {
            throw FilmRefusal(error)
        }
    }
}
