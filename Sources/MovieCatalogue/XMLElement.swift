/// An XML element with what it holds, and the line on which its start tag ends.
struct XMLElement: Sendable {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [XMLElement] = []
    /// The element's own text, without that of its children.
    var text = ""

    /// The first child called `name`, as the first of two JSON members counts.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }
}
