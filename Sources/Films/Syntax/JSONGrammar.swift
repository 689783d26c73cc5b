import HTTPSemantics

/// A JSON parser (RFC 8259) that creates no values but finds their ranges. Foundation's decoder accepts a trailing
/// comma, loses the order of members and reports no column.
package struct JSONGrammar {
    /// The kind of a value, which its first character shows.
    package enum Kind {
        case object, array, string, number, flag, null
        /// No value begins here.
        case none
    }

    /// The deepest nesting of arrays and objects.
    static let maximumDepth = 256

    /// UTF-8.
    let bytes: [UInt8]
    /// The current position.
    private(set) var index: Int
    private let end: Int
    private let maximumValues: Int
    private var values = 0
    private var depth = 0
    /// The values that were read, in the order of their beginnings, and the names of members before theirs; nil if they
    /// are not wanted.
    private(set) var places: [Place]?

    /// Where a value is.
    struct Place {
        /// `none` for a string or a number that is wrong in itself.
        fileprivate(set) var kind: Kind
        private let start: UInt32
        fileprivate(set) var end: UInt32
        /// The number of the first place behind it.
        fileprivate(set) var next: UInt32 = 0

        fileprivate init(_ kind: Kind, at index: Int) {
            (self.kind, start, end) = (kind, UInt32(index), UInt32(index))
        }

        var range: Range<Int> { Int(start)..<Int(end) }
    }

    /// - Parameters:
    ///   - range: where the value is. Default: all bytes.
    ///   - maximumValues: the most values that are read.
    ///   - notesPlaces: whether `places` is wanted. Then a string or a number that is wrong in itself is noted as such,
    ///     and is no error.
    init(
        _ bytes: [UInt8], in range: Range<Int>? = nil, maximumValues: Int = .max, notesPlaces: Bool = false
    ) {
        if notesPlaces {
            places = []
            // About as many as a document of films has, so that they are not copied while they grow.
            places?.reserveCapacity(bytes.count / 16)
        }
        self.bytes = bytes
        index = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
        self.maximumValues = maximumValues
    }

    /// The kind of the next value.
    var next: Kind {
        mutating get {
            skipSpace()
            switch peek {
            case UInt8(ascii: "{"): return .object
            case UInt8(ascii: "["): return .array
            case UInt8(ascii: "\""): return .string
            case UInt8(ascii: "t"), UInt8(ascii: "f"): return .flag
            case UInt8(ascii: "n"): return .null
            case let byte? where byte == UInt8(ascii: "-") || byte.isDigit: return .number
            default: return .none
            }
        }
    }

    /// The range of the only value.
    mutating func only() throws(CatalogueError) -> Range<Int> {
        let range = try value()
        try finish()
        return range
    }

    /// Requires that nothing but white space follows.
    mutating func finish() throws(CatalogueError) {
        skipSpace()
        guard index == end else { throw fault("unexpected text after the value") }
    }

    /// Reads a value and returns its range, without surrounding white space.
    /// - Throws: `.malformedJSON`; `.tooLarge` beyond the most values.
    @discardableResult
    mutating func value() throws(CatalogueError) -> Range<Int> {
        let kind = next
        let start = index
        values += 1
        guard values <= maximumValues else { throw .tooLarge(limit: maximumValues, unit: "values") }
        let place = note(kind)
        switch kind {
        case .object: try members { _, grammar throws(CatalogueError) in try grammar.value() }
        case .array: try elements { _ throws(CatalogueError) in }
        case .string, .number: try scalar(kind, place)
        case .flag: try word(peek == UInt8(ascii: "t") ? "true" : "false")
        case .null: try word("null")
        case .none:
            throw fault(peek == nil ? "unexpected end of the text" : "a value is expected")
        }
        endNote(place)
        return start..<index
    }

    /// Notes the beginning of a value.
    private mutating func note(_ kind: Kind) -> Int {
        places?.append(Place(kind, at: index))
        return (places?.count ?? 0) - 1
    }

    private mutating func endNote(_ place: Int) {
        guard place >= 0, let count = places?.count else { return }
        places?[place].end = UInt32(index)
        places?[place].next = UInt32(count)
    }

    /// Reads an object and calls `body` with the range of each member's name, including quotation marks. The body must
    /// read the value.
    mutating func members(
        _ body: (Range<Int>, inout JSONGrammar) throws(CatalogueError) -> Void
    ) throws(CatalogueError) {
        try items(closing: UInt8(ascii: "}")) { grammar throws(CatalogueError) in
            guard grammar.peek == UInt8(ascii: "\"") else {
                throw grammar.fault("the name of a member is expected, in double quotes")
            }
            let start = grammar.index
            let place = grammar.note(.string)
            // Always right, so that it can be unescaped.
            try grammar.string()
            grammar.endNote(place)
            let name = start..<grammar.index
            grammar.skipSpace()
            guard grammar.peek == UInt8(ascii: ":") else { throw grammar.fault("a colon is expected") }
            grammar.index += 1
            try body(name, &grammar)
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

    /// Reads a string or a number. One that is wrong in itself ends where a right one would, if places are noted.
    private mutating func scalar(_ kind: Kind, _ place: Int) throws(CatalogueError) {
        let start = index
        do throws(CatalogueError) {
            if kind == .string { try string() } else { try number() }
        } catch {
            guard place >= 0 else { throw error }
            index = start
            if kind == .string {
                try string(isChecked: false)
            } else {
                while let byte = peek, Self.isOfNumber(byte) { index += 1 }
            }
            places?[place].kind = .none
        }
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool { "0123456789+-.eE".utf8.contains(byte) }

    private mutating func string(isChecked: Bool = true) throws(CatalogueError) {
        index += 1
        while true {
            index = plainEnd(from: index)
            switch peek {
            case UInt8(ascii: "\""):
                index += 1
                return
            case UInt8(ascii: "\\") where !isChecked: index += 2
            case UInt8(ascii: "\\"): try escape()
            case .some where isChecked:
                throw fault("a control character in a string; write it as \\u and four digits")
            case .some: index += 1
            case nil: throw fault("a string is not closed")
            }
        }
    }

    /// The end of the characters that stand for themselves. Most bytes of a document are in strings.
    private func plainEnd(from start: Int) -> Int {
        var index = start
        let bytes = bytes.span
        while index < end {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { return index }
            index += 1
        }
        return max(start, end)
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
        let digits = bytes[index..<min(index + 4, end)].compactMap(\.hexadecimalValue)
        guard digits.count == 4 else { throw fault("\\u without four hexadecimal digits", at: start) }
        index += 4
        return digits.reduce(0) { $0 << 4 | UInt16($1) }
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
        // Such as a leading zero: the rest of `01` is not a value.
        if let byte = peek, Self.isOfNumber(byte) { throw fault("an invalid number", at: start) }
    }

    private mutating func digits(from start: Int) throws(CatalogueError) {
        guard let first = peek, first.isDigit else {
            throw fault("an invalid number", at: start)
        }
        while let byte = peek, byte.isDigit { index += 1 }
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
        let place = bytes[..<min(place ?? index, bytes.count)].endPlace
        return .malformedJSON(reason: reason, line: place.line, column: place.column)
    }
}
