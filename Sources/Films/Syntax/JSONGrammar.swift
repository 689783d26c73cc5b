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
    private let checksScalars: Bool
    private let maximumValues: Int
    private var values = 0
    private var depth = 0
    /// The values that were read, in the order of their beginnings, and the names of members before theirs; nil if they
    /// are not wanted.
    private(set) var places: [Place]?

    /// Where a value is.
    struct Place {
        /// `none` for a string that is wrong in itself.
        fileprivate(set) var kind: Kind
        let start: Int
        fileprivate(set) var end: Int
        /// The number of the first place behind it.
        fileprivate(set) var next: Int
    }

    /// - Parameters:
    ///   - range: where the value is. Default: all bytes.
    ///   - checksScalars: whether a number or a string may not be wrong in itself. If not, only its end is found.
    ///   - maximumValues: the most values that are read.
    ///   - notesPlaces: whether `places` is wanted.
    init(
        _ bytes: [UInt8], in range: Range<Int>? = nil, checksScalars: Bool = true, maximumValues: Int = .max,
        notesPlaces: Bool = false
    ) {
        if notesPlaces { places = [] }
        self.bytes = bytes
        index = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
        self.checksScalars = checksScalars
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
        case .string: try string(from: start, place)
        case .number: try number()
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
        places?.append(Place(kind: kind, start: index, end: index, next: 0))
        return (places?.count ?? 0) - 1
    }

    private mutating func endNote(_ place: Int) {
        guard place >= 0, let count = places?.count else { return }
        places?[place].end = index
        places?[place].next = count
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
            try grammar.string(isChecked: true)
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

    /// Reads a string, and notes whether it is right if places are noted.
    private mutating func string(from start: Int, _ place: Int) throws(CatalogueError) {
        guard !checksScalars, place >= 0 else { return try string(isChecked: checksScalars) }
        do {
            try string(isChecked: true)
        } catch {
            // Ignored: the string is a fault of its member, if anybody asks for that.
            index = start
            try string(isChecked: false)
            places?[place].kind = .none
        }
    }

    private mutating func string(isChecked: Bool) throws(CatalogueError) {
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
        guard checksScalars else {
            while let byte = peek, "0123456789+-.eE".utf8.contains(byte) { index += 1 }
            return
        }
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
        if let byte = peek, byte.isDigit { throw fault("an invalid number", at: start) }
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
