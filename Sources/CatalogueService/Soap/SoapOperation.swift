/// The operations of the service in SOAP. The element in a body has the operation's name; the element of the answer has
/// the same name with `Response` after it.
package enum SoapOperation: String, CaseIterable, Sendable {
    case top3AsXml = "Top3AsXml"
    case filmsAsXml = "FilmsAsXml"
    case film = "Film"
    case add = "Add"
    case rate = "Rate"
    case edit = "Edit"
    case remove = "Remove"

    package static let namespace = "urn:marquee:films"

    /// The value of SOAPAction.
    package var action: String { "\(Self.namespace)/\(rawValue)" }

    /// What it does, in one line.
    var summary: String {
        switch self {
        case .top3AsXml: "The three best films, as the text of the catalogue top3.xml."
        case .filmsAsXml:
            "A page of films, as the text of a catalogue in XML. next, if there is one, is the next page's after."
        case .film: "One film."
        case .add: "Adds a film. Without an id it gets one."
        case .rate: "Sets somebody's vote from 0 to 10; xsi:nil takes it back."
        case .edit:
            "Changes the members that are given; one that is empty or xsi:nil is removed. With the tag of an earlier answer only if the film has not changed since."
        case .remove:
            "Removes a film, its poster and its votes. With a tag only if the film has not changed since."
        }
    }

    /// The content of the request's element, in XML Schema.
    var parameters: String {
        switch self {
        case .top3AsXml: ""
        case .filmsAsXml:
            Self.optional("limit", "xs:int") + Self.optional("after", "xs:string")
                + Self.optional("q", "xs:string") + Self.optional("sort", "xs:string")
        case .film: Self.required("id", "xs:string")
        case .add: Self.required("film", "films:FilmRecord")
        case .rate:
            Self.required("id", "xs:string") + Self.required("rater", "xs:string")
                + "<xs:element name=\"value\" type=\"xs:double\" nillable=\"true\"/>"
        case .edit: Self.required("id", "xs:string") + Self.required("film", "films:FilmRecord")
        case .remove: Self.required("id", "xs:string") + Self.optional("tag", "xs:string")
        }
    }

    /// The content of the answer's element, in XML Schema.
    var results: String {
        switch self {
        case .top3AsXml: Self.required(resultName, "xs:string")
        case .filmsAsXml: Self.required(resultName, "xs:string") + Self.optional("next", "xs:string")
        case .film, .add, .rate, .edit: Self.required(resultName, "films:FilmRecord")
        case .remove: ""
        }
    }

    package var resultName: String { rawValue + "Result" }

    private static func required(_ name: String, _ type: String) -> String {
        "<xs:element name=\"\(name)\" type=\"\(type)\"/>"
    }

    private static func optional(_ name: String, _ type: String) -> String {
        "<xs:element name=\"\(name)\" type=\"\(type)\" minOccurs=\"0\" nillable=\"true\"/>"
    }
}
