/// What requests bring in XML.
extension FilmDocument {
    /// Reads the only film of a document in UTF-8: `<movie>` or `<film>`, or a `<movie>` alone within `<film>` or
    /// `<catalogue>`.
    /// - Parameter emptyIsNull: whether an element without anything in it stands for null; else it says nothing.
    /// - Throws: what is wrong with the XML, and `.wrongShape` for none or several films.
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

    /// Reads the elements of a document with this root.
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
