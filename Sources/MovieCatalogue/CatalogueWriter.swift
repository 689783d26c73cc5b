/// A catalogue in JSON or XML as text, a piece at a time: the start, each film, the end.
///
///     {"name":"Silents","movies":[
///     {"id":"nosferatu","title":"Nosferatu"},
///     {"id":"faust","title":"Faust"}
///     ]}
public struct CatalogueWriter: Sendable {
    /// The forms there are.
    public enum Format: String, CaseIterable, Sendable {
        case json, xml
    }

    /// The form of this catalogue.
    public let format: Format
    private let name: String?
    private var isFirst = true

    /// A catalogue without films yet.
    public init(format: Format, name: String?) {
        self.format = format
        self.name = name
    }

    /// What comes before the films.
    public var start: String {
        switch format {
        case .json: "{" + (name.map { "\"name\":\(JSONText($0).text)," } ?? "") + "\"movies\":["
        case .xml:
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<catalogue"
                + (name.map { " name=\"\(XMLText.escaped($0))\"" } ?? "") + ">"
        }
    }

    /// The next film, with what separates it from the last one.
    public mutating func film(_ film: FilmDocument) -> String {
        defer { isFirst = false }
        return switch format {
        case .json: (isFirst ? "\n" : ",\n") + film.json()
        case .xml: "\n" + film.xml()
        }
    }

    /// What comes after the films.
    public var end: String {
        switch format {
        case .json: "\n]}\n"
        case .xml: "\n</catalogue>\n"
        }
    }
}
