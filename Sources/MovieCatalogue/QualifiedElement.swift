/// An XML element with resolved namespaces (Namespaces in XML 1.0, section 6), since the prefixes may differ between
/// documents.
///
///     <s:Body xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><Film xmlns="urn:marquee:films">…</Film></s:Body>
package struct QualifiedElement: Sendable {
    /// Empty for a name without a namespace.
    package let namespace: String
    /// The local name, without the prefix.
    package let name: String
    package let children: [QualifiedElement]
    /// The element's own text, without its children's.
    package let text: String
    /// Attributes by namespace and name. A name without a prefix has no namespace.
    private let attributes: [String: String]
    /// A limit, because each element with declarations copies the outer ones.
    private static let maximumNamespaces = 100

    /// Reads the root element of a UTF-8 document. Refuses a DOCTYPE.
    package init(parsing bytes: [UInt8]) throws(CatalogueError) {
        guard case .xml(let root) = try Document(parsing: bytes) else {
            throw .malformedXML(reason: "it does not begin with an element", line: 1)
        }
        try self.init(root, ["": "", "xml": "http://www.w3.org/XML/1998/namespace"])
    }

    /// - Parameter outer: the namespaces in scope, by prefix.
    private init(_ element: XMLElement, _ outer: [String: String]) throws(CatalogueError) {
        var namespaces = outer
        for (name, value) in element.attributes {
            if name == "xmlns" {
                namespaces[""] = value
            } else if name.hasPrefix("xmlns:") {
                namespaces[String(name.dropFirst(6))] = value
            }
        }
        guard namespaces.count <= Self.maximumNamespaces else {
            throw .tooLarge(limit: Self.maximumNamespaces, unit: "namespaces around an element")
        }
        var attributes: [String: String] = [:]
        for (name, value) in element.attributes where name != "xmlns" && !name.hasPrefix("xmlns:") {
            let (prefix, local) = Self.split(name)
            let namespace = prefix.isEmpty ? "" : try Self.namespace(prefix, namespaces, element.line)
            attributes[Self.key(local, namespace)] = value
        }
        let (prefix, local) = Self.split(element.name)
        namespace = try Self.namespace(prefix, namespaces, element.line)
        name = local
        text = element.text
        self.attributes = attributes
        var children: [QualifiedElement] = []
        for child in element.children { children.append(try QualifiedElement(child, namespaces)) }
        self.children = children
    }

    /// The value of an attribute.
    package func attribute(_ name: String, in namespace: String = "") -> String? {
        attributes[Self.key(name, namespace)]
    }

    /// The first child with this name, in the element's namespace or in none.
    package func child(_ name: String) -> QualifiedElement? {
        children.first { $0.name == name && ($0.namespace == namespace || $0.namespace.isEmpty) }
    }

    private static func key(_ name: String, _ namespace: String) -> String { "{\(namespace)}\(name)" }

    private static func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.firstIndex(of: ":") else { return ("", name) }
        return (String(name[..<colon]), String(name[name.index(after: colon)...]))
    }

    private static func namespace(
        _ prefix: String, _ namespaces: [String: String], _ line: Int
    ) throws(CatalogueError) -> String {
        guard let namespace = namespaces[prefix] else {
            throw .malformedXML(reason: "the prefix \(prefix) is not declared", line: line)
        }
        return namespace
    }
}
