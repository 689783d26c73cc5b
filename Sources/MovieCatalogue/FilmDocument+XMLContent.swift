/// Films in the XML content of requests.
extension FilmDocument {
    /// Reads the only film of a UTF-8 document: `<movie>` or `<film>`, or the only `<movie>` in a `<film>` or
    /// `<catalogue>`.
    /// - Parameter emptyIsNull: whether an empty element means null; otherwise it is ignored.
    /// - Throws: the error in the XML, and `.wrongShape` for no film or several.
    package init(xmlContent bytes: [UInt8], emptyIsNull: Bool) throws(CatalogueError) {
        let root = try Self.root(of: bytes)
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
        for child in element.children where child.attributes.isEmpty && child.children.isEmpty {
            if child.name != "id", child.text.trimmed.isEmpty { self[child.name] = emptyIsNull ? .null : nil }
        }
    }

    /// Reads the children of the root element, which must have this name.
    package init(xmlContent bytes: [UInt8], root name: String) throws(CatalogueError) {
        let root = try Self.root(of: bytes)
        guard root.name == name else { throw .wrongShape(expected: "<\(name)>", line: root.line) }
        self.init(xml: root)
    }

    private static func root(of bytes: [UInt8]) throws(CatalogueError) -> XMLElement {
        guard case .xml(let root) = try Document(parsing: bytes) else {
            throw .malformedXML(reason: "it does not begin with an element", line: 1)
        }
        return root
    }
}
