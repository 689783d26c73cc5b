/// Reads the elements of a document (XML 1.0, fifth edition) without document type: what is not well formed is refused
/// with its line, and nothing is ever looked up elsewhere. Clauses in comments are those of the recommendation.
///
/// Foundation's parser would need libxml2 and all of Foundation, which take longer to be loaded than the program takes for
/// most of what it does.
struct XMLReader {
    /// How deep elements nest at most; a catalogue needs four.
    static let maximumDepth = 64
    /// Attributes of one element at most.
    static let maximumAttributes = 1000

    private var source: XMLSource
    private let maximumElements: Int
    /// The elements whose end tags are to come.
    private var open: [XMLElement] = []
    /// The text of the innermost one since its start tag, or its last child's end tag.
    private var text: [UInt8] = []
    private var root: XMLElement?
    private var elements = 0

    /// The root element of a document in UTF-8 without NUL. White space may come before its declaration.
    static func read(
        _ bytes: ArraySlice<UInt8>, maximumElements: Int = Document.maximumValues
    ) throws(CatalogueError) -> XMLElement {
        var reader = XMLReader(
            source: XMLSource(try XMLProlog.checked(bytes)), maximumElements: maximumElements)
        return try reader.readDocument()
    }

    private init(source: XMLSource, maximumElements: Int) {
        self.source = source
        self.maximumElements = maximumElements
    }

    /// Clause 2.1: one root element, and around it comments, instructions and white space.
    private mutating func readDocument() throws(CatalogueError) -> XMLElement {
        while !source.isAtEnd {
            if source.take("<!--") {
                try skipComment()
            } else if source.take("<![CDATA[") {
                try readCharacterData()
            } else if source.take("<?") {
                try skipInstruction()
            } else if source.take("</") {
                try readEndTag()
            } else if source.take("<") {
                try readStartTag()
            } else {
                try readText()
            }
        }
        if let last = open.last { throw source.fault("<\(last.name)> of line \(last.line) is not closed") }
        guard let root else { throw source.fault("there is no element") }
        return root
    }

    // MARK: Tags (clause 3.1)

    private mutating func readStartTag() throws(CatalogueError) {
        guard root == nil else { throw source.fault("something follows the root element") }
        elements += 1
        guard elements <= maximumElements else { throw .tooLarge(limit: maximumElements, unit: "elements") }
        guard open.count < Self.maximumDepth else {
            throw source.fault("nested deeper than \(Self.maximumDepth) levels")
        }
        let name = try readName()
        var attributes: [String: String] = [:]
        while true {
            let hasSpace = source.skipWhiteSpace()
            if source.take("/>") {
                return end(XMLElement(name: name, attributes: attributes, line: source.line))
            }
            if source.take(">") {
                keepText()
                open.append(XMLElement(name: name, attributes: attributes, line: source.line))
                return
            }
            guard hasSpace, !source.isAtEnd else { throw source.fault("a tag is not closed") }
            let attribute = try readName()
            let value = try readAttributeValue()
            guard attributes.updateValue(value, forKey: attribute) == nil else {
                throw source.fault("two attributes of one name")
            }
        }
    }

    private mutating func readEndTag() throws(CatalogueError) {
        let name = try readName()
        source.skipWhiteSpace()
        guard source.take(">") else { throw source.fault("a tag is not closed") }
        keepText()
        guard let element = open.popLast() else { throw source.fault("</\(name)> closes no element") }
        guard element.name == name else {
            throw source.fault("<\(element.name)> of line \(element.line) is not closed")
        }
        end(element)
    }

    /// An element is complete.
    private mutating func end(_ element: XMLElement) {
        keepText()
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    private mutating func readName() throws(CatalogueError) -> String {
        guard let name = source.takeName() else {
            throw source.fault("expected a name; write & as &amp; and < as &lt;")
        }
        return name
    }

    /// Clauses 2.3 and 3.3.3: white space becomes spaces, unless it is written as a reference.
    private mutating func readAttributeValue() throws(CatalogueError) -> String {
        let reason = "an attribute without a value in quotes"
        source.skipWhiteSpace()
        guard source.take("=") else { throw source.fault(reason) }
        source.skipWhiteSpace()
        guard let quote = ["\"", "'"].first(where: { source.take($0) }) else { throw source.fault(reason) }
        var value: [UInt8] = []
        while !source.take(quote) {
            if source.take("<") { throw source.fault("< in an attribute; write &lt;") }
            if source.take("&") {
                value += try source.reference()
                continue
            }
            let byte = try source.next(orFault: reason)
            value.append(byte.isWhitespace ? UInt8(ascii: " ") : byte)
        }
        return String(decoding: value, as: UTF8.self)
    }

    // MARK: What stands between tags

    /// Clause 2.4.
    private mutating func readText() throws(CatalogueError) {
        guard !open.isEmpty else {
            if source.skipWhiteSpace() { return }
            throw source.fault(
                root == nil ? "it does not begin with an element" : "something follows the root element")
        }
        while true {
            text += source.plainRun()
            if source.isAtEnd || source.isAt("<") { return }
            if source.take("]]>") { throw source.fault("]]> in text") }
            if source.take("&") {
                text += try source.reference()
            } else {
                text.append(try source.next(orFault: ""))
            }
        }
    }

    /// Clause 2.7.
    private mutating func readCharacterData() throws(CatalogueError) {
        guard let element = open.last else { throw source.fault("text outside of any element") }
        while true {
            text += source.plainRun()
            if source.take("]]>") { return }
            text.append(
                try source.next(orFault: "<\(element.name)> of line \(element.line) is not closed"))
        }
    }

    /// Clause 2.5: two hyphens stand at the end only.
    private mutating func skipComment() throws(CatalogueError) {
        let reason = "a comment that is not closed, or holds --"
        while true {
            _ = source.plainRun()
            if source.take("--") { break }
            _ = try source.next(orFault: reason)
        }
        guard source.take(">") else { throw source.fault(reason) }
    }

    /// Clause 2.6; the declaration, whose name no other may have, is gone by now.
    private mutating func skipInstruction() throws(CatalogueError) {
        guard try readName().lowercased() != "xml" else {
            throw source.fault("an XML declaration that is not at the beginning, or not closed")
        }
        while !source.take("?>") { _ = try source.next(orFault: "an instruction that is not closed") }
    }

    /// Gives the innermost open element the text that was read for it.
    private mutating func keepText() {
        guard !text.isEmpty, !open.isEmpty else { return }
        open[open.count - 1].text += String(decoding: text, as: UTF8.self)
        text.removeAll(keepingCapacity: true)
    }
}
