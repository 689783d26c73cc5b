package import MovieCatalogue

/// A film in a message: its common members as elements, all others as JSON.
///
///     <film><title>Faust</title><year>1926</year><genres><genre>Drama</genre></genres><overview xsi:nil="true"/>
///       <member name="seen">true</member></film>
package enum SoapFilm {
    /// The common members in the order of the schema, with their types.
    static let members: [(name: String, type: String)] = [
        ("id", "xs:string"), ("title", "xs:string"), ("originalTitle", "xs:string"), ("year", "xs:int"),
        ("director", "xs:string"), ("country", "xs:string"), ("minutes", "xs:int"),
        ("genres", "films:Genres"), ("overview", "xs:string"), ("score", "xs:double"),
        ("poster", "xs:string"), ("rating", "xs:double"), ("votes", "xs:int"),
        ("created_at", "xs:string"), ("updated_at", "xs:string"),
    ]

    /// A film as an element without a prefix.
    /// - Parameter tag: the entity tag without its quotes.
    package static func xml(_ film: FilmDocument, tag: String? = nil, as name: String) -> String {
        var (usual, others) = ("", "")
        for (name, type) in members {
            if let value = film[name] { usual += element(name, value, type) ?? "" }
        }
        for member in film.members {
            let type = members.first { $0.name == member.name }?.type
            if let type, element(member.name, member.value, type) != nil { continue }
            others +=
                "<member name=\"\(XMLText.escaped(member.name))\">\(XMLText.escaped(member.value.text))</member>"
        }
        let attribute = tag.map { " tag=\"\(XMLText.escaped($0))\"" } ?? ""
        return "<\(name)\(attribute)>\(usual)\(others)</\(name)>"
    }

    /// A common member; nil if its value has another type.
    private static func element(_ name: String, _ value: JSONText, _ type: String) -> String? {
        if value.isNull { return "<\(name) xsi:nil=\"true\"/>" }
        let content: String
        switch type {
        case "xs:int":
            guard let number = value.number.flatMap({ Int32(exactly: $0) }) else { return nil }
            content = "\(number)"
        case "xs:double":
            guard value.number != nil else { return nil }
            content = value.text
        case "films:Genres":
            guard let genres = value.elements, genres.allSatisfy({ $0.string != nil }) else { return nil }
            content = genres.map { "<genre>\(XMLText.escaped($0.string ?? ""))</genre>" }.joined()
        default:
            guard let text = value.string else { return nil }
            content = XMLText.escaped(text)
        }
        return "<\(name)>\(content)</\(name)>"
    }

    /// Reads a film. The first of two elements with one name counts.
    /// - Parameter keepsNull: whether an element that is empty or `xsi:nil` means null; otherwise it is ignored.
    package static func document(_ element: QualifiedElement, keepsNull: Bool) -> FilmDocument {
        let members = element.children.compactMap { child in
            let name = child.name == "member" ? child.attribute("name") ?? "member" : child.name
            let value = value(child)
            return value.isNull && !keepsNull ? nil : JSONText.Member(name: name, value: value)
        }
        // Losing the error is right: an object that was just made can be read.
        return (try? FilmDocument(json: JSONText(members: members), allowsDuplicates: true)) ?? FilmDocument()
    }

    private static func value(_ element: QualifiedElement) -> JSONText {
        if element.isNil || element.children.isEmpty && element.text.isEmpty { return .null }
        let type = members.first { $0.name == element.name }?.type
        switch type {
        case "films:Genres":
            return JSONText(
                elements: element.children.filter { $0.name == "genre" }.map { JSONText($0.text) })
        case "xs:int", "xs:double": return number(element.text)
        case .some: return JSONText(element.text)
        // Losing the error is right: a text that is not JSON stands for itself.
        case nil: return (try? JSONText(parsing: Array(element.text.utf8))) ?? JSONText(element.text)
        }
    }

    /// A number of XML Schema. Other text stays text, and the check of the film refuses it.
    static func number(_ text: String) -> JSONText {
        let digits = text.filter { !$0.isWhitespace }
        // Losing the error is right: other text stays text.
        if let value = try? JSONText(parsing: Array(digits.utf8)), value.number != nil { return value }
        guard let number = Double(digits), number.isFinite else { return JSONText(text) }
        return JSONText(number)
    }
}
