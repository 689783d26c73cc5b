import CatalogueService
import LazyImages
import MovieCatalogue

/// The format of a film in a request.
enum FilmWire: String, CaseIterable, Sendable {
    case json, xml, form, multipart, soap

    /// The option of commands that do not send a whole film.
    static let option = Option(
        name: "wire", value: "FORMAT", help: "the format: json or soap (default: as in --catalogue)",
        choices: ["json", "soap"])

    /// The format that the arguments name; nil if they name none.
    static func named(
        _ arguments: Arguments, among wires: [FilmWire] = [.json, .soap]
    ) throws(UsageError) -> FilmWire? {
        guard let text = arguments.value("wire") else { return nil }
        if let wire = wires.first(where: { $0.rawValue == text }) { return wire }
        let names = wires.map(\.rawValue).joined(separator: ", ")
        throw UsageError("--wire needs one of \(names), not \"\(text)\"")
    }

    /// A film as the body of a request.
    /// - Parameter poster: sent only in a multipart form.
    func body(of film: FilmDocument, poster: PosterFile?) -> UploadBody {
        switch self {
        case .json: return .bytes(Array(film.json().utf8), mediaType: "application/json")
        case .xml:
            let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + film.xml()
            return .bytes(Array(text.utf8), mediaType: "application/xml")
        case .form:
            return .urlEncoded(Self.fields(of: film))
        case .multipart:
            var parts = Self.fields(of: film).map { FormPart.field($0.name, $0.value) }
            if let poster {
                parts.append(.file("poster", path: poster.path, mediaType: poster.mediaType))
            }
            return .form(parts)
        case .soap: return SoapCaller.message(.add, SoapFilm.xml(film, as: "film"))
        }
    }

    /// `film[title]=…&film[genres][]=…`
    private static func fields(of film: FilmDocument) -> [(name: String, value: String)] {
        film.members.flatMap { member in
            if let elements = member.value.elements {
                return elements.map { ("film[\(member.name)][]", $0.string ?? $0.text) }
            }
            return [("film[\(member.name)]", member.value.string ?? member.value.text)]
        }
    }
}
