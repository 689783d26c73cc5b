/// Writes a catalogue as JSON or XML text, piece by piece: the start, each film, the end.
///
///     {"name":"Silents","movies":[
///     {"id":"nosferatu","title":"Nosferatu"},
///     {"id":"faust","title":"Faust"}
///     ]}
public struct CatalogueWriter: Sendable {
    /// The output formats.
    public enum Format: String, CaseIterable, Sendable {
        case json, xml
    }

    /// The format of this catalogue.
    public let format: Format
    private let name: String?
    private var isFirst = true

    /// Begins a catalogue.
    public init(format: Format, name: String?) {
        self.format = format
        self.name = name
    }

    /// The text before the first film.
    public var start: String {
        switch format {
        case .json: "{" + (name.map { "\"name\":\(JSONText($0).text)," } ?? "") + "\"movies\":["
        case .xml:
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<catalogue"
                + (name.map { " name=\"\(XMLText.escaped($0))\"" } ?? "") + ">"
        }
    }

    /// The text of the next film, with the separator before it.
    public mutating func film(_ film: FilmDocument) -> String {
        defer { isFirst = false }
        return switch format {
        case .json: (isFirst ? "\n" : ",\n") + film.json()
        case .xml: "\n" + film.xml()
        }
    }

    /// The text after the last film.
    public var end: String {
        switch format {
        case .json: "\n]}\n"
        case .xml: "\n</catalogue>\n"
        }
    }
}
