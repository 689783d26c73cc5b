/// Films in XML:
///
///     <movie id="nosferatu"><title>Nosferatu</title><year>1922</year><genres><genre>Horror</genre></genres>
///       <runtime unit="min">94</runtime><member name="last seen">2026</member><seen type="boolean">true</seen></movie>
///
/// An unknown member is a string if it has only text. Otherwise it is an object, with `@name` for an attribute and
/// `#text` for text; elements with the same name form an array. The attribute `type` distinguishes values that XML
/// would write alike.
extension FilmDocument {
    private static let types: Set<String> = ["number", "boolean", "null", "array", "object"]
    private static let numbers: Set<String> = ["year", "minutes", "score", "rating", "votes"]
    private static let texts: Set<String> = [
        "id", "title", "originalTitle", "director", "country", "overview", "poster", "media", "page",
        "created_at", "updated_at",
    ]

    /// Reads a UTF-8 document whose root is one `<movie>`.
    /// - Throws: the error in the XML, and `.wrongShape` for another root.
    public init(xml bytes: [UInt8]) throws(CatalogueError) {
        guard case .xml(let root) = try Document(parsing: bytes), root.name == "movie" else {
            throw .wrongShape(expected: "<movie> as the only film", line: nil)
        }
        self.init(xml: root)
    }

    /// Reads a `<movie>` element.
    package init(xml element: XMLElement) {
        self.init()
        if let id = element.attributes["id"] ?? element.child("id")?.text {
            self["id"] = JSONText(id.trimmed)
        }
        var names: Set<String> = ["id"]
        for child in element.children {
            let name = Self.name(of: child)
            guard names.insert(name).inserted else { continue }
            self[name] = Self.value(of: child, called: name, in: element)
        }
    }

    private static func name(of element: XMLElement) -> String {
        element.name == "member" ? element.attributes["name"] ?? element.name : element.name
    }

    private static func value(of child: XMLElement, called name: String, in parent: XMLElement) -> JSONText? {
        let text = child.text.collapsed
        if name == "genres" {
            return JSONText(
                elements: child.children.filter { $0.name == "genre" }.map { JSONText($0.text.collapsed) })
        }
        if numbers.contains(name) { return text.isEmpty ? nil : number(text) ?? JSONText(text) }
        if texts.contains(name), child.children.isEmpty { return JSONText(text) }
        let alike = parent.children.filter { Self.name(of: $0) == name }
        return alike.count == 1 ? value(of: child) : JSONText(elements: alike.map { value(of: $0) })
    }

    private static func number(_ text: String) -> JSONText? {
        // Losing the error is right: text that is not a JSON number stays text.
        guard let value = try? JSONText(parsing: Array(text.utf8)), value.number != nil else {
            return Double(text).flatMap { $0.isFinite ? JSONText($0) : nil }
        }
        return value
    }

    private static func value(of element: XMLElement) -> JSONText {
        var attributes = element.attributes
        if element.name == "member" { attributes["name"] = nil }
        let type = attributes["type"].flatMap { types.contains($0) ? $0 : nil }
        if let type, attributes.count == 1, let value = value(of: element, type: type) { return value }
        if type == "object" { attributes["type"] = nil }
        if attributes.isEmpty, element.children.isEmpty, type == nil { return JSONText(element.text.trimmed) }
        var members = attributes.sorted { $0.key < $1.key }
            .map { JSONText.Member(name: "@" + $0.key, value: JSONText($0.value)) }
        var names: Set<String> = []
        for child in element.children where names.insert(name(of: child)).inserted {
            let alike = element.children.filter { name(of: $0) == name(of: child) }
            members.append(
                JSONText.Member(
                    name: name(of: child),
                    value: alike.count == 1
                        ? value(of: child) : JSONText(elements: alike.map { value(of: $0) })))
        }
        let text = element.text.trimmed
        if !text.isEmpty { members.append(JSONText.Member(name: "#text", value: JSONText(text))) }
        return JSONText(members: members)
    }

    /// The value of an element with a `type`; nil if the content does not match it.
    private static func value(of element: XMLElement, type: String) -> JSONText? {
        let text = element.text.trimmed
        switch type {
        case "number": return number(text)
        case "boolean": return Bool(text).map { JSONText($0) }
        case "null": return text.isEmpty && element.children.isEmpty ? .null : nil
        case "array": return JSONText(elements: element.children.map { value(of: $0) })
        default: return nil
        }
    }
}

extension FilmDocument {
    /// Writes the film as a `<movie>` element on one line.
    public func xml() -> String {
        var xml = "<movie"
        if let id = self["id"] { xml += " id=\"\(XMLText.escaped(id.string ?? id.text))\"" }
        xml += ">"
        for member in members where member.name != "id" {
            if member.name == "genres", let genres = member.value.elements,
                genres.allSatisfy({ $0.string != nil })
            {
                xml += "<genres>" + genres.map { Self.element("genre", $0) }.joined() + "</genres>"
            } else if Self.numbers.contains(member.name), member.value.number != nil {
                xml += "<\(member.name)>\(member.value.text)</\(member.name)>"
            } else {
                xml += Self.element(member.name, member.value)
            }
        }
        return xml + "</movie>"
    }

    private static func element(_ name: String, _ value: JSONText) -> String {
        let isName = XMLText.isName(name) && name != "member"
        let (tag, start) = isName ? (name, name) : ("member", "member name=\"\(XMLText.escaped(name))\"")
        if let text = value.string { return "<\(start)>\(XMLText.escaped(text))</\(tag)>" }
        if let elements = value.elements {
            if elements.count > 1, !elements.contains(where: { $0.elements != nil }) {
                return elements.map { element(name, $0) }.joined()
            }
            return array(elements, start: start, tag: tag)
        }
        if let members = value.members { return object(members, start: start, tag: tag) }
        if value.isNull { return "<\(start) type=\"null\"/>" }
        let type = value.flag == nil ? "number" : "boolean"
        return "<\(start) type=\"\(type)\">\(value.text)</\(tag)>"
    }

    /// Writes an array as one element, whatever it contains.
    private static func array(_ elements: [JSONText], start: String, tag: String) -> String {
        let items = elements.map { value in
            value.elements.map { array($0, start: "item", tag: "item") } ?? element("item", value)
        }
        return "<\(start) type=\"array\">\(items.joined())</\(tag)>"
    }

    private static func object(_ members: [JSONText.Member], start: String, tag: String) -> String {
        var (attributes, content) = ("", "")
        for member in members {
            let attribute = String(member.name.dropFirst())
            if member.name == "#text", let text = member.value.string {
                content += XMLText.escaped(text)
            } else if member.name.hasPrefix("@"), XMLText.isName(attribute), let text = member.value.string,
                !(tag == "member" && attribute == "name"), attribute != "type" || members.count > 1
            {
                attributes += " \(attribute)=\"\(XMLText.escaped(text))\""
            } else {
                content += element(member.name, member.value)
            }
        }
        let isPlain = attributes.isEmpty && !content.contains("<")
        return "<\(start)\(isPlain ? " type=\"object\"" : attributes)>\(content)</\(tag)>"
    }
}
