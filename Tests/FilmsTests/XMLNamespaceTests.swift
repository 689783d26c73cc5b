import TestTraits
import Testing

@testable import Films

@Suite("Names of XML elements", .bounded)
struct XMLNamespaceTests {
    @Test("a prefix stands for a namespace, by the nearest declaration")
    func resolved() throws {
        let text =
            "<a:r xmlns:a='urn:a' xmlns='urn:d' x='1' a:x='2'><c/><a:c xmlns:a='urn:b'/><c xmlns='' a:y='3'>t</c></a:r>"
        let root = try XMLElement(parsing: Array(text.utf8))
        #expect(root.namespace == "urn:a" && root.localName == "r")
        #expect(root.attribute("x") == "1" && root.attribute("x", in: "urn:a") == "2")
        #expect(root.attribute("x", in: "urn:d") == nil && root.attribute("xmlns") == nil)
        #expect(root.children.map(\.namespace) == ["urn:d", "urn:b", ""])
        #expect(root.children[2].attribute("y", in: "urn:a") == "3" && root.children[2].text == "t")
        // Looks in the element's own namespace, or in none.
        #expect(root.child("c")?.text == "t" && root.child("d") == nil)
    }

    @Test("a document with many declarations is refused fast, and JSON is no document")
    func refused() {
        let declarations = (0..<200).map { " xmlns:p\($0)='urn:\($0)'" }.joined()
        #expect(throws: CatalogueError.tooLarge(limit: 100, unit: "namespaces around an element")) {
            try XMLElement(parsing: Array("<r\(declarations)/>".utf8))
        }
        #expect(throws: CatalogueError.self) { try XMLElement(parsing: Array("[]".utf8)) }
    }
}
