import FoundationEssentials
import HTTPSemantics

/// An XML element with its content. Its name and those of its attributes are as written; a namespace is that of the
/// nearest declaration (Namespaces in XML 1.0, section 6), since the prefixes may differ between documents.
///
///     <s:Body xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><Film xmlns="urn:marquee:films">…</Film></s:Body>
package struct XMLElement: Sendable {
    /// The name as written, with its prefix.
    package let name: String
    /// The attributes by their names as written.
    let attributes: [String: String]
    /// The line where the start tag ends, from 1.
    package let line: Int
    package var children: [XMLElement] = []
    /// The element's own text, without its children's.
    package var text = ""
    /// Which bytes of the text begin white space that is written as a reference, in order.
    fileprivate var referencedSpaces: [Int] = []
    /// Where it stands in its parent's text: after this many bytes of UTF-8.
    var offset = 0
    fileprivate var scope = XMLScope.outside
    /// Whether the element declares too many namespaces. Its own declarations count for nothing then.
    private var hasTooManyNamespaces = false

    /// Reads the root element of a UTF-8 document. Refuses a DOCTYPE, and too many namespaces.
    package init(parsing bytes: [UInt8]) throws(CatalogueError) {
        guard case .xml(let root) = try Document(parsing: bytes) else {
            throw .malformedXML(reason: "it does not begin with an element", line: 1)
        }
        try root.checkNamespaces()
        self = root
    }

    /// Throws `.tooLarge` if the element, or one in it, declares too many namespaces.
    /// - Parameter depth: how deep to look. Default: in all elements.
    func checkNamespaces(depth: Int = .max) throws(CatalogueError) {
        if hasTooManyNamespaces {
            throw .tooLarge(limit: XMLScope.maximumNamespaces, unit: "namespaces around an element")
        }
        guard depth > 0 else { return }
        for child in children { try child.checkNamespaces(depth: depth - 1) }
    }

    init(name: String, attributes: [String: String] = [:], line: Int, text: String = "") {
        (self.name, self.attributes, self.line, self.text) = (name, attributes, line, text)
    }

    fileprivate mutating func declareNamespaces(inside parent: XMLElement?) {
        let outer = parent?.scope ?? .outside
        let inner = outer.inside(attributes)
        scope = inner ?? outer
        hasTooManyNamespaces = inner == nil
    }

    /// The end of the name's prefix; nil without one. Nearly all names have none.
    private var colon: String.Index? { name.utf8.firstIndex(of: UInt8(ascii: ":")) }

    /// The name without its prefix.
    package var localName: String { colon.map { String(name[name.utf8.index(after: $0)...]) } ?? name }

    /// Empty for a name without a namespace.
    package var namespace: String {
        colon.map { scope.namespaces[String(name[..<$0])] ?? "" } ?? scope.defaultNamespace
    }

    /// What is wrong with the prefixes (Namespaces in XML 1.0, sections 5 and 6.3); nil if nothing is.
    fileprivate var prefixFault: String? {
        if hasTooManyNamespaces { return nil }
        let names = attributes.keys.map(Self.split).filter { !$0.prefix.isEmpty && $0.prefix != "xmlns" }
        let prefixes = names.map(\.prefix) + [Self.split(name).prefix]
        if prefixes.contains(where: { scope.namespaces[$0] == nil }) {
            return "a prefix that is not declared; declare it with xmlns"
        }
        let expanded = Set(names.map { [scope.namespaces[$0.prefix], $0.local] })
        return expanded.count < names.count ? XMLReader.duplicateAttribute : nil
    }

    /// The value of an attribute. A name without a prefix has no namespace.
    package func attribute(_ name: String, in namespace: String = "") -> String? {
        if namespace.isEmpty { return name == "xmlns" ? nil : attributes[name] }
        return attributes.first { written, _ in
            let (prefix, local) = Self.split(written)
            return local == name && !prefix.isEmpty && scope.namespaces[prefix] == namespace
        }?.value
    }

    /// The first child with this name, in the element's namespace or in none.
    package func child(_ name: String) -> XMLElement? {
        let index = children.indices.first { index in
            let written = children[index].name
            // Only a longer name can have a prefix.
            guard written == name || written.utf8.count > name.utf8.count && children[index].localName == name
            else { return false }
            return owns(children[index])
        }
        return index.map { children[$0] }
    }

    /// Whether a child is in the element's namespace, or in none.
    func owns(_ child: XMLElement) -> Bool {
        // Most children share the scope.
        if child.scope === scope, child.colon == nil, colon == nil { return true }
        let namespace = child.namespace
        return namespace.isEmpty || namespace == self.namespace
    }

    /// An address in the element, made absolute if `xml:base` says how; otherwise as written. Nil if it is blank.
    func address(_ written: String?) -> String? {
        guard let written = written?.trimmed, !written.isEmpty else { return nil }
        guard let base = scope.base else { return written }
        return URL(string: written, relativeTo: base)?.absoluteString ?? written
    }

    /// The text without white space at its ends. White space that is written as a reference stays: `&#10;`.
    var trimmedText: String {
        referencedSpaces.isEmpty ? text.trimmed : text.trimmed(keeping: referencedSpaces)
    }

    /// The same with one space for each run of white space.
    var collapsedText: String { text.collapsed(keeping: referencedSpaces) }

    private static func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", name) }
        return (String(name[..<colon]), String(name[name.utf8.index(after: colon)...]))
    }
}

/// What an element inherits from those around it. Elements without declarations share that of their parent.
private final class XMLScope: Sendable {
    /// The namespaces by prefix.
    let namespaces: [String: String]
    /// That of names without a prefix.
    let defaultNamespace: String
    /// The address that relative addresses start from (XML Base, section 4); nil for the document's own.
    let base: URL?

    /// A limit, because each element with declarations copies the outer ones.
    static let maximumNamespaces = 100

    /// Outside the root element.
    static let outside = XMLScope(["": "", "xml": "http://www.w3.org/XML/1998/namespace"], nil)

    private init(_ namespaces: [String: String], _ base: URL?) {
        (self.namespaces, self.base) = (namespaces, base)
        defaultNamespace = namespaces[""] ?? ""
    }

    /// The scope inside an element with these attributes; nil if there are too many namespaces.
    func inside(_ attributes: [String: String]) -> XMLScope? {
        guard attributes.keys.contains(where: { $0.hasPrefix("xml") }) else { return self }
        var (namespaces, base) = (namespaces, base)
        for (name, value) in attributes {
            if name == "xmlns" {
                namespaces[""] = value
            } else if name.hasPrefix("xmlns:") {
                namespaces[String(name.dropFirst(6))] = value
            } else if name == "xml:base" {
                base = URL(string: value.trimmed, relativeTo: self.base)?.absoluteURL ?? self.base
            }
        }
        return namespaces.count <= Self.maximumNamespaces ? XMLScope(namespaces, base) : nil
    }
}

/// Reads XML 1.0 (https://www.w3.org/TR/xml/; the numbers below are its sections) with namespaces
/// (https://www.w3.org/TR/xml-names/), without a DOCTYPE.
///
/// Leniently it reads what other programs write: a bare `&`, entities of HTML, a DOCTYPE, which is skipped, tags that do
/// not match, several roots, and text outside of them. Limits hold all the same.
///
/// FoundationXML ends the process at an instruction without content, `<?x?>`. It takes truncated documents and
/// mismatched tags for whole. With libxml2 and ICU it also takes a third of the time of each start of the program.
package struct XMLReader {
    /// The deepest nesting of elements; a catalogue needs four.
    static let maximumDepth = 64
    /// The most attributes of an element.
    static let maximumAttributes = 1000

    /// UTF-8.
    private let bytes: ArraySlice<UInt8>
    private let maximumElements: Int
    private let isLenient: Bool
    /// The current position.
    private var index: Int
    /// A position that was passed, and its line.
    private var counted: (index: Int, line: Int)
    private var open: [XMLElement] = []
    private var roots: [XMLElement] = []
    /// What stands outside the roots.
    private var outside: [UInt8] = []
    private var elements = 0

    private init(
        _ bytes: ArraySlice<UInt8>, maximumElements: Int, isLenient: Bool = false
    ) {
        (self.bytes, self.maximumElements, self.isLenient) = (bytes, maximumElements, isLenient)
        index = bytes.startIndex
        counted = (index, 1)
    }

    /// Reads the root element of a UTF-8 document. White space may precede the declaration.
    package static func read(
        _ bytes: ArraySlice<UInt8>, maximumElements: Int = Document.maximumValues
    ) throws(CatalogueError) -> XMLElement {
        var reader = XMLReader(bytes, maximumElements: maximumElements)
        try reader.readDeclaration()
        while let byte = reader.peek { try reader.readNext(byte) }
        guard reader.open.isEmpty, let root = reader.roots.first else { throw reader.wrongStructure }
        return root
    }

    /// Reads the elements of a document leniently, and the text outside of them.
    /// - Throws: only for what is beyond a limit.
    package static func readLeniently(
        _ bytes: ArraySlice<UInt8>, maximumElements: Int
    ) throws(CatalogueError) -> (roots: [XMLElement], outside: String) {
        var reader = XMLReader(bytes, maximumElements: maximumElements, isLenient: true)
        while let byte = reader.peek { try reader.readNext(byte) }
        while !reader.open.isEmpty { reader.close() }
        return (reader.roots, String(decoding: reader.outside, as: UTF8.self))
    }

    /// Skips the declaration (2.8), unless it names another encoding.
    private mutating func readDeclaration() throws(CatalogueError) {
        guard let declaration = XMLDeclaration(bytes),
            bytes[declaration.range].dropFirst(5).first?.isWhitespace == true
        else { return }
        index = declaration.range.lowerBound
        if let encoding = declaration.encoding,
            !["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased())
        {
            throw .unsupportedEncoding(name: encoding, line: lineOfIndex())
        }
        index = declaration.range.upperBound
    }

    private mutating func readNext(_ byte: UInt8) throws(CatalogueError) {
        if byte != UInt8(ascii: "<"), !open.isEmpty {
            let (text, spaces) = try takeText()
            addText(text, spaces)
        } else if byte.isWhitespace {
            if isLenient { outside.append(byte) }
            index += 1
        } else if isLenient, isStray(byte) {
            if byte == UInt8(ascii: "<"), !open.isEmpty { addText("<") } else { outside.append(byte) }
            index += 1
        } else if isLenient, starts(with: "<!") || starts(with: "<?"), !starts(with: "<![CDATA[") {
            skipMarkup()
        } else if take("<!--") {
            let fault = "a comment that is not closed, or holds --"
            _ = try takeAll(before: "--", else: fault)
            guard take(">") else { throw malformed(fault) }
        } else if take("<?") {
            guard try takeName().lowercased() != "xml" else { throw malformed("a second XML declaration") }
            guard skipSpace() || starts(with: "?>") else {
                throw malformed("no white space after the name of an instruction")
            }
            _ = try takeAll(before: "?>", else: "an instruction that is not closed")
        } else if starts(with: "<!DOCTYPE") {
            throw .doctypeRefused(line: lineOfIndex())
        } else if !open.isEmpty, take("<![CDATA[") {
            let content = try takeAll(before: "]]>", else: "CDATA that is not closed")
            addText(String(decoding: Self.written(content), as: UTF8.self))
        } else if take("</") {
            try readEndTag()
        } else if roots.isEmpty || isLenient, take("<") {
            try readStartTag()
        } else {
            throw wrongStructure
        }
    }

    private mutating func readStartTag() throws(CatalogueError) {
        let name = try takeName()
        let attributes = try takeAttributes()
        let isEmpty = take("/")
        guard take(">") || isLenient else { throw malformed("a tag is not closed") }
        elements += 1
        guard elements <= maximumElements else { throw .tooLarge(limit: maximumElements, unit: "elements") }
        guard open.count < Self.maximumDepth else {
            throw malformed("nested deeper than \(Self.maximumDepth) levels")
        }
        var element = XMLElement(name: name, attributes: attributes, line: lineOfIndex())
        element.offset = open.last?.text.utf8.count ?? 0
        element.declareNamespaces(inside: open.last)
        if !isLenient, let fault = element.prefixFault { throw malformed(fault) }
        open.append(element)
        if isEmpty { close() }
    }

    private mutating func readEndTag() throws(CatalogueError) {
        let name = try takeName()
        skipSpace()
        guard take(">") || isLenient else { throw malformed("a tag is not closed") }
        if isLenient {
            // Closes the elements in it too; without such an element the tag means nothing.
            guard let last = open.lastIndex(where: { $0.name == name }) else { return }
            while open.count > last + 1 { close() }
        }
        guard open.last?.name == name else { throw wrongStructure }
        close()
    }

    /// Whether a byte begins no markup, and is no text of an element.
    private func isStray(_ byte: UInt8) -> Bool {
        guard byte == UInt8(ascii: "<") else { return true }
        let rest = bytes[(index + 1)...]
        guard let next = rest.first(where: { $0 != UInt8(ascii: "/") }) else { return true }
        return !next.isLetter && next < 0x80 && !"_!?".utf8.contains(next)
    }

    /// Skips a comment, an instruction or a DOCTYPE with what is declared in it. Nothing of it is resolved.
    private mutating func skipMarkup() {
        let isComment = starts(with: "<!--")
        let end = isComment ? "-->" : starts(with: "<?") ? "?>" : ">"
        var rest = bytes[index...]
        if end == ">", let inner = rest.firstIndex(of: UInt8(ascii: "[")),
            rest[..<inner].contains(UInt8(ascii: ">")) == false,
            let close = rest[inner...].firstIndex(of: UInt8(ascii: "]"))
        {
            rest = rest[close...]
        }
        index = Self.place(of: end, in: rest).map { $0 + end.utf8.count } ?? bytes.endIndex
    }

    private mutating func close() {
        let element = open.removeLast()
        if open.isEmpty {
            roots.append(element)
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    /// Adds text to the open element.
    /// - Parameter spaces: its `referencedSpaces`.
    private mutating func addText(_ text: String, _ spaces: [Int] = []) {
        guard !open.isEmpty else { return }
        if !spaces.isEmpty {
            let start = open[open.count - 1].text.utf8.count
            open[open.count - 1].referencedSpaces += spaces.map { start + $0 }
        }
        open[open.count - 1].text += text
    }

    private mutating func takeAttributes() throws(CatalogueError) -> [String: String] {
        var attributes: [String: String] = [:]
        while skipSpace(), let byte = peek, byte != UInt8(ascii: "/"), byte != UInt8(ascii: ">") {
            let name = try takeName()
            skipSpace()
            guard let value = try takeValue() else {
                if isLenient { continue }
                throw malformed(Self.valueMissing)
            }
            if attributes[name] == nil {
                attributes[name] = value
            } else if !isLenient {
                throw malformed(Self.duplicateAttribute)
            }
            guard attributes.count <= Self.maximumAttributes else {
                throw .tooLarge(limit: Self.maximumAttributes, unit: "attributes of an element")
            }
        }
        return attributes
    }

    /// The value of an attribute, in quotes. Nil if there is none; leniently what stands there is skipped.
    private mutating func takeValue() throws(CatalogueError) -> String? {
        let hasSign = take("=")
        if hasSign { skipSpace() }
        guard hasSign, let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            if isLenient {
                index =
                    bytes[index...].firstIndex { $0.isWhitespace || $0 == UInt8(ascii: ">") }
                    ?? bytes.endIndex
            }
            return nil
        }
        index += 1
        let value = try takeText(before: quote).text
        guard peek == quote else { return nil }
        index += 1
        return value
    }

    fileprivate static let duplicateAttribute = "a duplicate attribute"
    private static let valueMissing = "an attribute without a value in quotes"

    /// Takes text up to the next `<` (2.4), or an attribute's value up to its quote (3.3.3). References are resolved.
    /// - Returns: the text, and which bytes of it begin white space that is written as a reference.
    private mutating func takeText(
        before quote: UInt8? = nil
    ) throws(CatalogueError) -> (text: String, spaces: [Int]) {
        var text: [UInt8] = []
        var spaces: [Int] = []
        while let byte = peek, byte != UInt8(ascii: "<"), byte != quote {
            if byte == UInt8(ascii: "&") {
                let character = try takeReference()
                if character.allSatisfy(\.isWhitespace) { spaces.append(text.count) }
                text += character.utf8
                continue
            }
            let end = bytes[index...].firstIndex {
                $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") || $0 == quote
            }
            let run = bytes[index..<(end ?? bytes.endIndex)]
            if !isLenient, quote == nil, let wrong = Self.place(of: "]]>", in: run) {
                index = wrong
                throw malformed("]]> in text")
            }
            try check(run)
            text += Self.written(run, isAttribute: quote != nil)
            index = run.endIndex
        }
        if !isLenient, quote != nil, peek == UInt8(ascii: "<") {
            throw malformed("< in an attribute; write &lt;")
        }
        return (String(decoding: text, as: UTF8.self), spaces)
    }

    /// Takes a reference to a character or a predefined entity (4.1, 4.6).
    private mutating func takeReference() throws(CatalogueError) -> String {
        let start = index
        if isLenient {
            let near = Array(bytes[start...].prefix(Self.longestReference))
            let reference = HTMLText.Reference(near, at: 0)
            index += reference?.end ?? 1
            return reference.map { String($0.scalar) } ?? "&"
        }
        index += 1
        let isNumber = take("#")
        let name = String(decoding: bytes[index...].prefix { $0.isLetter || $0.isDigit }, as: UTF8.self)
        index += name.utf8.count
        guard !name.isEmpty, take(";") else {
            index = start
            throw malformed(Self.nameMissing)
        }
        if isNumber {
            let value = name.hasPrefix("x") ? UInt32(name.dropFirst(), radix: 16) : UInt32(name)
            if let text = value.flatMap(Unicode.Scalar.init).map(String.init),
                Self.invalidCharacter(in: Array(text.utf8)[...]) == nil
            {
                return text
            }
        } else if let text = Self.entities[name] {
            return text
        }
        index = start
        throw malformed(
            isNumber ? Self.invalidCharacter : "an undefined entity; write the character itself")
    }

    /// The longest reference that is looked for, in bytes.
    private static let longestReference = 16
    private static let entities = ["lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": "\""]

    /// Takes a name (2.3) with at most one prefix.
    private mutating func takeName() throws(CatalogueError) -> String {
        let written = bytes[index...].prefix {
            $0.isLetter || $0.isDigit || $0 >= 0x80 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
                || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ":")
        }
        let name = String(decoding: written, as: UTF8.self)
        // Nearly all names are made of letters.
        if written.isEmpty || !written.allSatisfy(\.isLetter) {
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2, parts.allSatisfy({ $0.unicodeScalars.first?.startsXMLName == true }),
                name.unicodeScalars.allSatisfy(\.isInXMLName)
            else {
                if !isLenient { throw malformed(Self.nameMissing) }
                index = max(written.endIndex, index + 1)
                return name
            }
        }
        index = written.endIndex
        return name
    }

    private static let nameMissing = "expected a name; write & as &amp; and < as &lt;"

    /// Takes everything before a mark, and the mark.
    private mutating func takeAll(
        before mark: String, else fault: String
    ) throws(CatalogueError) -> ArraySlice<UInt8> {
        guard let end = Self.place(of: mark, in: bytes[index...]) else { throw malformed(fault) }
        let content = bytes[index..<end]
        try check(content)
        index = end + mark.utf8.count
        return content
    }

    private static func place(of mark: String, in bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        while let place = rest.firstIndex(where: { $0 == mark.utf8.first }) {
            rest = rest[place...]
            if rest.starts(with: mark.utf8) { return place }
            rest.removeFirst()
        }
        return nil
    }

    /// Text with its line ends as `\n` (2.11), or with spaces for white space in an attribute.
    private static func written(_ run: ArraySlice<UInt8>, isAttribute: Bool = false) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(run.count)
        for (index, byte) in zip(run.indices, run) {
            switch byte {
            case UInt8(ascii: "\n") where index > run.startIndex && run[index - 1] == UInt8(ascii: "\r"):
                break
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                text.append(isAttribute ? UInt8(ascii: " ") : UInt8(ascii: "\n"))
            case UInt8(ascii: "\t") where isAttribute: text.append(UInt8(ascii: " "))
            // Only a lenient reading comes so far.
            case ..<0x20 where !byte.isWhitespace: break
            default: text.append(byte)
            }
        }
        return text
    }

    private mutating func check(_ run: ArraySlice<UInt8>) throws(CatalogueError) {
        guard !isLenient, let wrong = Self.invalidCharacter(in: run) else { return }
        index = wrong
        throw malformed(Self.invalidCharacter)
    }

    /// Finds what is no character of XML (2.2): control characters, U+FFFE and U+FFFF.
    private static func invalidCharacter(in run: ArraySlice<UInt8>) -> Int? {
        run.indices.first { index in
            run[index] < 0x20 && !run[index].isWhitespace
                || run[index] == 0xEF
                    && [0xBE, 0xBF].contains { run[index...].starts(with: [0xEF, 0xBF, $0]) }
        }
    }

    private static let invalidCharacter = "an invalid character"

    private var peek: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

    private func starts(with word: String) -> Bool {
        bytes[index...].starts(with: word.utf8)
    }

    private mutating func take(_ word: String) -> Bool {
        guard starts(with: word) else { return false }
        index += word.utf8.count
        return true
    }

    /// - Returns: whether there was white space.
    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = index
        while let byte = peek, byte.isWhitespace { index += 1 }
        return index > start
    }

    /// The line of the current position. Counts the lines since the last call only.
    private mutating func lineOfIndex() -> Int {
        counted = (index, counted.line + bytes[counted.index..<index].count { $0 == UInt8(ascii: "\n") })
        return counted.line
    }

    /// The error when elements do not follow each other as they should.
    private var wrongStructure: CatalogueError {
        if let last = open.last { return malformed("<\(last.name)> of line \(last.line) is not closed") }
        return malformed(
            roots.isEmpty ? "it does not begin with an element" : "unexpected text after the root element")
    }

    private func malformed(_ reason: String) -> CatalogueError {
        let place = bytes[..<index].endPlace
        return .malformedXML(reason: reason, line: place.line, column: place.column)
    }
}

extension Unicode.Scalar {
    /// Whether a name may begin with it (2.3), a colon apart.
    fileprivate var startsXMLName: Bool {
        switch self {
        case "A"..."Z", "a"..."z", "_", "\u{C0}"..."\u{D6}", "\u{D8}"..."\u{F6}", "\u{F8}"..."\u{2FF}",
            "\u{370}"..."\u{37D}", "\u{37F}"..."\u{1FFF}", "\u{200C}"..."\u{200D}", "\u{2070}"..."\u{218F}",
            "\u{2C00}"..."\u{2FEF}", "\u{3001}"..."\u{D7FF}", "\u{F900}"..."\u{FDCF}",
            "\u{FDF0}"..."\u{FFFD}",
            "\u{10000}"..."\u{EFFFF}":
            true
        default: false
        }
    }

    /// Whether a name may contain it (2.3).
    fileprivate var isInXMLName: Bool {
        switch self {
        case "-", ".", ":", "0"..."9", "\u{B7}", "\u{300}"..."\u{36F}", "\u{203F}"..."\u{2040}": true
        default: startsXMLName
        }
    }
}

/// Turns XML in other encodings into UTF-8, before anything is checked or parsed. So no encoding can hide a text from the
/// checks that the parser would see.
///
///     FE FF 00 3C 00 3F …                                  UTF-16 with a byte order mark (XML 1.0, clause 4.3.3)
///     <?xml version="1.0" encoding="ISO-8859-1"?>           read as Windows-1252, which has all of its characters
package enum XMLEncoding {
    /// The encodings of one byte each that a declaration may name.
    private static let latin: Set = [
        "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "windows-1252", "cp1252",
    ]

    /// The document in UTF-8, without its declaration, which no longer holds; nil if it is in no other encoding. Line
    /// numbers stay.
    static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.starts(with: [0xFE, 0xFF]) { return wide(bytes) { $0 << 8 | $1 } }
        if bytes.starts(with: [0xFF, 0xFE]) { return wide(bytes) { $1 << 8 | $0 } }
        guard let declaration = XMLDeclaration(bytes.prefix(longestDeclaration)),
            latin.contains(declaration.encoding?.lowercased() ?? "")
        else { return nil }
        var text = windows1252(bytes)
        declaration.remove(from: &text)
        return text
    }

    /// UTF-8 of a text in Windows-1252.
    package static func windows1252(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            guard byte >= 0x80 else {
                text.append(byte)
                continue
            }
            let index = Int(byte) - 0x80
            let scalar =
                index < HTMLText.windows1252.count ? HTMLText.windows1252[index] : Unicode.Scalar(byte)
            text += Array(String(scalar).utf8)
        }
        return text
    }

    /// UTF-16. Units that are no text become U+FFFD.
    private static func wide(_ bytes: [UInt8], _ unit: (UInt16, UInt16) -> UInt16) -> [UInt8] {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map {
            unit(UInt16(bytes[$0]), UInt16(bytes[$0 + 1]))
        }
        // Half a unit at the end is no text either.
        let end = bytes.count % 2 == 0 ? "" : "\u{FFFD}"
        var text = Array((String(decoding: units, as: UTF16.self) + end).utf8)
        guard let declaration = XMLDeclaration(text.prefix(longestDeclaration)),
            declaration.encoding?.lowercased().hasPrefix("utf-16") == true
        else { return text }
        declaration.remove(from: &text)
        return text
    }

    /// The longest declaration that is looked for, in bytes.
    private static let longestDeclaration = 256
}

/// The declaration at the beginning of a document (XML 1.0, clause 2.8).
private struct XMLDeclaration {
    /// As written; nil if it names none.
    let encoding: String?
    let range: Range<Int>

    init?(_ beginning: ArraySlice<UInt8>) {
        guard let start = beginning.firstIndex(where: { !$0.isWhitespace }),
            beginning[start...].starts(with: Array("<?xml".utf8)),
            let end = beginning.firstRange(of: Array("?>".utf8))
        else { return nil }
        range = start..<end.upperBound
        let words = String(decoding: beginning[start..<end.lowerBound], as: UTF8.self)
            .split { $0.isWhitespace || $0 == "=" || $0 == "\"" || $0 == "'" }
        encoding = words.firstIndex(of: "encoding").flatMap { index in
            index + 1 < words.count ? String(words[index + 1]) : nil
        }
    }

    /// Puts white space in place of the declaration, which is ASCII.
    func remove(from text: inout [UInt8]) {
        for index in range where text[index] != UInt8(ascii: "\n") { text[index] = UInt8(ascii: " ") }
    }
}
