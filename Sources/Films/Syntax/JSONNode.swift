/// A value of a JSON document by its place in the bytes, for documents of other programs: their values are read one by
/// one, and what nobody asks for is only skipped. A string or a number that is wrong in itself is a fault of its member
/// alone.
package struct JSONNode: Sendable {
    /// The document, which is read once.
    private final class Text: Sendable {
        let bytes: [UInt8]
        let places: [JSONGrammar.Place]

        init(_ bytes: [UInt8], _ places: [JSONGrammar.Place]) { (self.bytes, self.places) = (bytes, places) }
    }

    private let text: Text
    /// The number of the value's place.
    private let index: Int

    /// The kind of the value; `none` for a string or a number that is wrong in itself.
    package var kind: JSONGrammar.Kind { place.kind }

    private var place: JSONGrammar.Place { text.places[index] }
    private var bytes: ArraySlice<UInt8> { text.bytes[place.range] }

    /// A copy of the value that has been checked, also what is wrong in itself in it.
    func checkedText() throws(CatalogueError) -> JSONText {
        var grammar = JSONGrammar(text.bytes, in: place.range)
        return JSONText(bytes: text.bytes, in: try grammar.only())
    }

    /// Reads a server's answer.
    /// - Throws: the error in the document; `.webPage` for the login page of a network, or of a proxy.
    package init(parsing bytes: [UInt8]) throws(CatalogueError) {
        switch try Document(parsing: bytes) {
        case .json(let root): self = root
        case .xml: throw .webPage
        case .lines: throw .unrecognized
        }
    }

    /// - Parameters:
    ///   - bytes: UTF-8, of at most 4 GiB.
    ///   - start: where the document begins, after a byte order mark.
    /// - Throws: `.malformedJSON`; `.tooLarge` for more values than `maximumValues`.
    init(parsing bytes: [UInt8], from start: Int, maximumValues: Int) throws(CatalogueError) {
        var grammar = JSONGrammar(
            bytes, in: start..<bytes.count, maximumValues: maximumValues, notesPlaces: true)
        _ = try grammar.only()
        text = Text(bytes, grammar.places ?? [])
        index = 0
    }

    private init(_ text: Text, _ index: Int) { (self.text, self.index) = (text, index) }

    /// Calls `body` with the name and the value of each member that is not null; never for a value that is no object.
    package func forEachMember(_ body: (String, JSONNode) -> Void) {
        guard kind == .object else { return }
        var name = index + 1
        while name < place.next {
            let value = JSONNode(text, name + 1)
            if value.kind != .null { body(JSONText.unquoted(text.bytes[text.places[name].range]), value) }
            name = Int(value.place.next)
        }
    }

    /// A member of an object; nil if there is none, or null. The first of two with one name.
    package subscript(name: String) -> JSONNode? {
        var found: JSONNode?
        forEachMember { if found == nil, $0 == name { found = $1 } }
        return found
    }

    /// The elements of an array; none for another value.
    package var elements: [JSONNode] {
        guard kind == .array else { return [] }
        var elements: [JSONNode] = []
        var element = index + 1
        while element < place.next {
            elements.append(JSONNode(text, element))
            element = Int(text.places[element].next)
        }
        return elements
    }

    /// The text of a string; nil for another value.
    package var string: String? { kind == .string ? JSONText.unquoted(bytes) : nil }

    /// A number, or a string that is one; nil for another value, and beyond a Double.
    package var number: Double? {
        switch kind {
        case .number: Double(String(decoding: bytes, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
        case .string: string.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }

    /// A number without a fraction.
    package var whole: Int? { number.flatMap { Int(exactly: $0) } }

    /// True or false; nil for another value.
    package var flag: Bool? { kind == .flag ? bytes.first == UInt8(ascii: "t") : nil }
}
