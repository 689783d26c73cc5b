/// A JSON parser (RFC 8259) that creates no values but finds their ranges. Foundation's decoder accepts a trailing
/// comma, loses the order of members and reports no column.
struct JSONGrammar {
    /// The deepest nesting of arrays and objects.
    static let maximumDepth = 256

    /// UTF-8.
    let bytes: [UInt8]
    /// The current position.
    private(set) var index: Int
    private let end: Int
    private var depth = 0

    init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        index = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    /// The range of the only value.
    mutating func only() throws(CatalogueError) -> Range<Int> {
        let range = try value()
        skipSpace()
        guard index == end else { throw fault("unexpected text after the value") }
        return range
    }

    /// Reads a value and returns its range, without surrounding white space.
    mutating func value() throws(CatalogueError) -> Range<Int> {
        skipSpace()
        let start = index
        switch peek {
        case UInt8(ascii: "{"): try members { _, _ throws(CatalogueError) in }
        case UInt8(ascii: "["): try elements { _ throws(CatalogueError) in }
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): try number()
        case nil: throw fault("unexpected end of the text")
        default: throw fault("a value is expected")
        }
        return start..<index
    }

    /// Reads an object and calls `body` with the ranges of each member's name, including quotation marks, and value.
    mutating func members(
        _ body: (Range<Int>, Range<Int>) throws(CatalogueError) -> Void
    ) throws(CatalogueError) {
        try items(closing: UInt8(ascii: "}")) { grammar throws(CatalogueError) in
            guard grammar.peek == UInt8(ascii: "\"") else {
                throw grammar.fault("the name of a member is expected, in double quotes")
            }
            let start = grammar.index
            try grammar.string()
            let name = start..<grammar.index
            grammar.skipSpace()
            guard grammar.peek == UInt8(ascii: ":") else { throw grammar.fault("a colon is expected") }
            grammar.index += 1
            try body(name, try grammar.value())
        }
    }

    /// Reads an array and calls `body` with the range of each element.
    mutating func elements(_ body: (Range<Int>) throws(CatalogueError) -> Void) throws(CatalogueError) {
        try items(closing: UInt8(ascii: "]")) { grammar throws(CatalogueError) in
            try body(try grammar.value())
        }
    }

    /// Reads the items between brackets, separated by commas.
    private mutating func items(
        closing: UInt8, _ item: (inout JSONGrammar) throws(CatalogueError) -> Void
    ) throws(CatalogueError) {
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw fault("nested deeper than \(Self.maximumDepth) levels")
        }
        index += 1
        skipSpace()
        if peek != closing {
            while true {
                skipSpace()
                try item(&self)
                skipSpace()
                if peek == closing { break }
                guard peek == UInt8(ascii: ",") else {
                    throw fault(
                        peek == nil
                            ? "unexpected end of the text" : "a comma or a closing bracket is expected")
                }
                index += 1
            }
        }
        index += 1
        depth -= 1
    }

    private mutating func string() throws(CatalogueError) {
        index += 1
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw fault("a control character in a string; write it as \\u and four digits")
            default: index += 1
            }
        }
        throw fault("a string is not closed")
    }

    private mutating func escape() throws(CatalogueError) {
        let start = index
        index += 1
        guard let letter = peek else { throw fault("a string is not closed") }
        index += 1
        guard letter == UInt8(ascii: "u") else {
            if "\"\\/bfnrt".utf8.contains(letter) { return }
            throw fault("an invalid escape", at: start)
        }
        let unit = try hexadecimal(from: start)
        guard UTF16.isSurrogate(unit) else { return }
        // A lone surrogate is not a character (RFC 8259 section 8.2).
        guard UTF16.isLeadSurrogate(unit), peek == UInt8(ascii: "\\"), index + 1 < end,
            bytes[index + 1] == UInt8(ascii: "u")
        else { throw fault("a lone surrogate", at: start) }
        index += 2
        guard UTF16.isTrailSurrogate(try hexadecimal(from: start)) else {
            throw fault("a lone surrogate", at: start)
        }
    }

    private mutating func hexadecimal(from start: Int) throws(CatalogueError) -> UInt16 {
        guard index + 4 <= end, bytes[index..<index + 4].allSatisfy({ Self.isHexadecimal($0) }),
            let unit = UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
        else { throw fault("\\u without four hexadecimal digits", at: start) }
        index += 4
        return unit
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    private mutating func number() throws(CatalogueError) {
        let start = index
        if peek == UInt8(ascii: "-") { index += 1 }
        if peek == UInt8(ascii: "0") { index += 1 } else { try digits(from: start) }
        if peek == UInt8(ascii: ".") {
            index += 1
            try digits(from: start)
        }
        if let byte = peek, byte | 0x20 == UInt8(ascii: "e") {
            index += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
            try digits(from: start)
        }
        // Leading zeros: the rest of `01` is not a value.
        if let byte = peek, Self.isDigit(byte) { throw fault("an invalid number", at: start) }
    }

    private mutating func digits(from start: Int) throws(CatalogueError) {
        guard let first = peek, Self.isDigit(first) else {
            throw fault("an invalid number", at: start)
        }
        while let byte = peek, Self.isDigit(byte) { index += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func word(_ word: StaticString) throws(CatalogueError) {
        let word = Array("\(word)".utf8)
        guard bytes[index..<end].starts(with: word) else { throw fault("a value is expected") }
        index += word.count
    }

    private mutating func skipSpace() {
        while let byte = peek, byte.isWhitespace { index += 1 }
    }

    private var peek: UInt8? { index < end ? bytes[index] : nil }

    /// The error at an offset, by default the current one. Columns count characters from 1.
    private func fault(_ reason: String, at place: Int? = nil) -> CatalogueError {
        let before = bytes[..<min(place ?? index, bytes.count)]
        let line = before.lastIndex(of: UInt8(ascii: "\n")).map { before[($0 + 1)...] } ?? before
        return .malformedJSON(
            reason: reason, line: before.count { $0 == UInt8(ascii: "\n") } + 1,
            column: String(decoding: line, as: UTF8.self).count + 1)
    }
}
