import FoundationEssentials

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
    /// The line where the start tag ends, from 1.
    let line: Int
    /// Where it stands in its parent's text: after this many bytes of UTF-8.
    let offset: Int
    /// Attributes by namespace and name. A name without a prefix has no namespace.
    private let attributes: [String: String]
    /// The address that relative addresses in the element start from (XML Base, section 4); nil for the document's own.
    private let base: URL?
    /// A limit, because each element with declarations copies the outer ones.
    private static let maximumNamespaces = 100

    /// What an element inherits from those around it.
    struct Scope: Sendable {
        /// The namespaces by prefix.
        fileprivate var namespaces = ["": "", "xml": "http://www.w3.org/XML/1998/namespace"]
        fileprivate var base: URL?

        /// Outside the root element.
        init() {}

        /// Inside an element.
        init(inside element: XMLElement, within outer: Scope) throws(CatalogueError) {
            self = outer
            for (name, value) in element.attributes {
                if name == "xmlns" {
                    namespaces[""] = value
                } else if name.hasPrefix("xmlns:") {
                    namespaces[String(name.dropFirst(6))] = value
                } else if name == "xml:base" {
                    base = URL(string: value.trimmed, relativeTo: outer.base)?.absoluteURL ?? outer.base
                }
            }
            guard namespaces.count <= QualifiedElement.maximumNamespaces else {
                throw .tooLarge(
                    limit: QualifiedElement.maximumNamespaces, unit: "namespaces around an element")
            }
        }
    }

    /// Reads the root element of a UTF-8 document. Refuses a DOCTYPE.
    package init(parsing bytes: [UInt8]) throws(CatalogueError) {
        guard case .xml(let root) = try Document(parsing: bytes) else {
            throw .malformedXML(reason: "it does not begin with an element", line: 1)
        }
        try self.init(root, within: Scope())
    }

    /// Resolves the names of an element and its children.
    init(_ element: XMLElement, within outer: Scope) throws(CatalogueError) {
        let scope = element.attributes.isEmpty ? outer : try Scope(inside: element, within: outer)
        var attributes: [String: String] = [:]
        for (name, value) in element.attributes where name != "xmlns" && !name.hasPrefix("xmlns:") {
            let (prefix, local) = Self.split(name)
            let namespace = prefix.isEmpty ? "" : try Self.namespace(prefix, scope, element.line)
            attributes[Self.key(local, namespace)] = value
        }
        let (prefix, local) = Self.split(element.name)
        namespace = try Self.namespace(prefix, scope, element.line)
        name = local
        text = element.text
        line = element.line
        offset = element.offset
        base = scope.base
        self.attributes = attributes
        var children: [QualifiedElement] = []
        children.reserveCapacity(element.children.count)
        for child in element.children { children.append(try QualifiedElement(child, within: scope)) }
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

    /// An address in the element, made absolute if `xml:base` says how; otherwise as written. Nil if it is blank.
    func address(_ written: String?) -> String? {
        guard let written = written?.trimmed, !written.isEmpty else { return nil }
        guard let base else { return written }
        return URL(string: written, relativeTo: base)?.absoluteString ?? written
    }

    private static func key(_ name: String, _ namespace: String) -> String {
        namespace.isEmpty ? name : "{\(namespace)}\(name)"
    }

    private static func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", name) }
        return (String(name[..<colon]), String(name[name.utf8.index(after: colon)...]))
    }

    private static func namespace(
        _ prefix: String, _ scope: Scope, _ line: Int
    ) throws(CatalogueError) -> String {
        guard let namespace = scope.namespaces[prefix] else {
            throw .malformedXML(reason: "the prefix \(prefix) is not declared", line: line)
        }
        return namespace
    }
}
