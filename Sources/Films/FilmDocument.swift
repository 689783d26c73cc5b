import HTTPSemantics

/// A film with all members of its source in their order, unknown ones too. `Movie` is the checked view.
public struct FilmDocument: Sendable, Hashable {
    /// The members in order, with unique names.
    public private(set) var members: [JSONText.Member] = []

    /// Creates an empty document.
    public init() {}

    /// Reads an object.
    /// - Parameter allowsDuplicates: whether to keep the first of repeated members, as in a catalogue.
    /// - Throws: `.wrongShape` for another value, and for a repeated member.
    public init(json: JSONText, allowsDuplicates: Bool = false) throws(CatalogueError) {
        guard let members = json.members else {
            throw .wrongShape(expected: "an object with the members of a film", line: nil)
        }
        var names: Set<String> = []
        self.members.reserveCapacity(members.count)
        for member in members {
            if names.insert(member.name).inserted {
                self.members.append(member)
            } else if !allowsDuplicates {
                throw .repeated(member.name)
            }
        }
    }

    /// The value of a member. Setting a new one appends it; nil removes it.
    public subscript(name: String) -> JSONText? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index] = JSONText.Member(name: name, value: value)
            case (nil, let value?): members.append(JSONText.Member(name: name, value: value))
            case (let index?, nil): members.remove(at: index)
            case (nil, nil): break
            }
        }
    }

    /// Inserts a member before all others and removes an earlier one with its name.
    public mutating func putFirst(_ name: String, _ value: JSONText) {
        members.removeAll { $0.name == name }
        members.insert(JSONText.Member(name: name, value: value), at: 0)
    }

    /// Applies a JSON merge patch (RFC 7396): null removes, objects merge, any other value replaces.
    /// - Throws: `.wrongShape` for a patch that is not an object or repeats a member.
    public mutating func merge(_ patch: JSONText) throws(CatalogueError) {
        let patch = try FilmDocument(json: patch)
        members = patch.merged(into: self).members
    }

    private func merged(into target: FilmDocument) -> FilmDocument {
        var target = target
        for member in members {
            target[member.name] =
                member.value.isNull ? nil : Self.merged(member.value, into: target[member.name])
        }
        return target
    }

    private static func merged(_ patch: JSONText, into target: JSONText?) -> JSONText {
        // Ignored: reading fails only for values that are not objects, and these replace the target.
        guard let patch = try? FilmDocument(json: patch, allowsDuplicates: true) else { return patch }
        let target = target.flatMap { try? FilmDocument(json: $0, allowsDuplicates: true) } ?? FilmDocument()
        return JSONText(members: patch.merged(into: target).members)
    }

    /// Checks the film.
    /// - Parameters:
    ///   - id: the film's id if the document has none.
    ///   - position: its position in a catalogue, from 1, for errors.
    /// - Throws: the first error in a field.
    public func movie(id: String? = nil, position: Int? = nil) throws(CatalogueError) -> Movie {
        var fields = fields(position)
        if let id { fields.values[.id] = .text(id) }
        return try fields.movie()
    }

    /// All errors in its members; a missing id is none.
    public var problems: [FieldProblem] { fields(nil).problems() }

    /// Writes the film as a JSON object on one line, with members in order.
    public func json() -> String { JSONText(members: members).text }

    private func fields(_ position: Int?) -> MovieFields {
        var fields = MovieFields(position: position, line: nil)
        for member in members {
            guard let known = FilmMember(named: member.name), !member.value.isNull else { continue }
            fields.values[known] = MovieFields.Value(member.value)
        }
        return fields
    }
}

extension MovieFields.Value {
    fileprivate init(_ value: JSONText) {
        if let text = value.string {
            self = .text(text)
        } else if let number = value.number {
            self = .number(number)
        } else if let elements = value.elements {
            let texts = elements.compactMap(\.string)
            self = texts.count == elements.count ? .texts(texts) : .other
        } else {
            self = .other
        }
    }
}

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
        let text = child.collapsedText
        let member = FilmMember(named: name)
        if let item = member?.listElement {
            return JSONText(
                elements: child.children.filter { $0.name == item }.map { JSONText($0.collapsedText) })
        }
        if member?.isNumber == true { return text.isEmpty ? nil : number(text) ?? JSONText(text) }
        if member != nil, child.children.isEmpty { return JSONText(text) }
        return value(named: name, in: parent)
    }

    /// The value of the child with a name; an array of several.
    private static func value(named name: String, in parent: XMLElement) -> JSONText {
        let values = parent.children.filter { self.name(of: $0) == name }.map { value(of: $0) }
        return values.count == 1 ? values[0] : JSONText(elements: values)
    }

    /// The number that a text is; nil for other text.
    package static func number(_ text: String) -> JSONText? {
        // Ignored: text that is not a JSON number stays text. One that is too large for a Double stays a number.
        guard let value = try? JSONText(parsing: Array(text.utf8)), value.isNumber else {
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
        if attributes.isEmpty, element.children.isEmpty, type == nil { return JSONText(element.trimmedText) }
        var members = attributes.sorted { $0.key < $1.key }
            .map { JSONText.Member(name: "@" + $0.key, value: JSONText($0.value)) }
        var names: Set<String> = []
        for name in element.children.map(name) where names.insert(name).inserted {
            members.append(JSONText.Member(name: name, value: value(named: name, in: element)))
        }
        let text = element.trimmedText
        if !text.isEmpty { members.append(JSONText.Member(name: "#text", value: JSONText(text))) }
        return JSONText(members: members)
    }

    /// The value of an element with a `type`; nil if the content does not match it.
    private static func value(of element: XMLElement, type: String) -> JSONText? {
        let text = element.trimmedText
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
            let known = FilmMember(named: member.name)
            if let item = known?.listElement, let texts = member.value.elements,
                texts.allSatisfy({ $0.string != nil })
            {
                let items = texts.map { Self.element(item, $0) }.joined()
                xml += "<\(member.name)>\(items)</\(member.name)>"
            } else if known?.isNumber == true, member.value.number != nil {
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
        if let text = value.string { return "<\(start)>\(content(text))</\(tag)>" }
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

    /// Text as an element's content. White space that readers would take for layout is written as references: at the ends,
    /// and after another space.
    private static func content(_ text: String) -> String {
        let escaped = XMLText.escaped(text)
        let hasRun = zip(text.utf8, text.utf8.dropFirst()).contains { $0 == 0x20 && $1 == 0x20 }
        let atEnds = [text.unicodeScalars.first, text.unicodeScalars.last].compactMap(\.self)
        guard hasRun || atEnds.contains(where: \.properties.isWhitespace) else { return escaped }
        var content = ""
        var isAfterSpace = true
        for scalar in escaped.unicodeScalars {
            let isSpace = scalar.properties.isWhitespace
            if isSpace, isAfterSpace {
                content += "&#\(scalar.value);"
            } else {
                content.unicodeScalars.append(scalar)
            }
            isAfterSpace = isSpace
        }
        guard let last = content.unicodeScalars.last, last.properties.isWhitespace else { return content }
        content.unicodeScalars.removeLast()
        return content + "&#\(last.value);"
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
            if member.name == "#text", let text = member.value.string, !text.isEmpty {
                content += Self.content(text)
            } else if member.name.hasPrefix("@"), XMLText.isName(attribute), let text = member.value.string,
                !(tag == "member" && attribute == "name"), attribute != "type" || !types.contains(text)
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

extension CatalogueError {
    /// A member that comes twice.
    fileprivate static func repeated(_ member: String) -> CatalogueError {
        .wrongShape(expected: "the member \"\(member)\" once, not twice", line: nil)
    }
}

/// Films in the XML content of requests.
extension FilmDocument {
    /// Reads the only film of a UTF-8 document: `<movie>` or `<film>`, or the only `<movie>` in a `<film>` or
    /// `<catalogue>`.
    /// - Parameter emptyIsNull: whether an empty element means null; otherwise a known member is left out, and an unknown one is
    ///   an empty text.
    /// - Throws: the error in the XML, and `.wrongShape` for no film or several, and for a repeated known member.
    package init(xmlContent bytes: [UInt8], emptyIsNull: Bool) throws(CatalogueError) {
        let root = try XMLElement(parsing: bytes)
        let movies = root.children.filter { $0.name == "movie" }
        let element: XMLElement
        switch root.name {
        case "movie": element = root
        case "film" where movies.isEmpty: element = root
        case "film", "catalogue":
            guard movies.count == 1 else {
                throw .wrongShape(expected: "one <movie>, not \(movies.count)", line: root.line)
            }
            element = movies[0]
        default: throw .wrongShape(expected: "<movie>, not <\(root.name)>", line: root.line)
        }
        self.init(xml: element)
        var names: Set<String> = []
        for child in element.children {
            let isKnown = FilmMember(named: child.name) != nil
            if isKnown, !names.insert(child.name).inserted { throw .repeated(child.name) }
            guard child.attributes.isEmpty, child.children.isEmpty, child.trimmedText.isEmpty,
                child.name != "id"
            else { continue }
            if emptyIsNull { self[child.name] = .null } else if isKnown { self[child.name] = nil }
        }
    }

    /// Reads the children of the root element, which must have this name.
    package init(xmlContent bytes: [UInt8], root name: String) throws(CatalogueError) {
        let root = try XMLElement(parsing: bytes)
        guard root.name == name else { throw .wrongShape(expected: "<\(name)>", line: root.line) }
        self.init(xml: root)
    }
}

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
