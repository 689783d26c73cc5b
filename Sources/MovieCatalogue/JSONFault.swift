/// Finds where JSON breaks the grammar (RFC 8259), which the decoder of FoundationEssentials does not tell: it only says
/// that it does.
struct JSONFault {
    /// What is wrong at the present offset.
    private struct Found: Error { let reason: String }

    /// As deep as the decoder goes.
    private static let maximumDepth = 512

    private let bytes: [UInt8]
    private var at = 0

    /// The error for data that the decoder refused.
    static func find(in bytes: ArraySlice<UInt8>) -> CatalogueError {
        var search = JSONFault(bytes: Array(bytes))
        do {
            try search.passDocument()
        } catch {
            let line = search.bytes[..<search.at].count { $0 == UInt8(ascii: "\n") } + 1
            return .malformedJSON(reason: error.reason, line: line)
        }
        return .malformedJSON(reason: "it breaks the grammar", line: nil)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func passDocument() throws(Found) {
        try passValue(depth: 0)
        skipWhiteSpace()
        guard at == bytes.count else { throw Found(reason: "something follows its end") }
    }

    /// The byte here, behind white space.
    private mutating func next() throws(Found) -> UInt8 {
        skipWhiteSpace()
        guard at < bytes.count else { throw Found(reason: "it ends too soon") }
        return bytes[at]
    }

    private mutating func skipWhiteSpace() { while at < bytes.count, bytes[at].isWhitespace { at += 1 } }

    private mutating func passValue(depth: Int) throws(Found) {
        guard depth <= Self.maximumDepth else {
            throw Found(reason: "nested deeper than \(Self.maximumDepth) levels")
        }
        switch try next() {
        case UInt8(ascii: "{"):
            try passList(until: UInt8(ascii: "}")) { search throws(Found) in
                guard try search.next() == UInt8(ascii: "\"") else {
                    throw Found(reason: "expected a name in quotes")
                }
                try search.passText()
                guard try search.next() == UInt8(ascii: ":") else { throw Found(reason: "expected a colon") }
                search.at += 1
                try search.passValue(depth: depth + 1)
            }
        case UInt8(ascii: "["):
            try passList(until: UInt8(ascii: "]")) { search throws(Found) in
                try search.passValue(depth: depth + 1)
            }
        case UInt8(ascii: "\""): try passText()
        default: try passWord()
        }
    }

    /// An object or an array, from its opening bracket.
    private mutating func passList(
        until end: UInt8, passItem: (inout JSONFault) throws(Found) -> Void
    ) throws(Found) {
        at += 1
        if try next() == end {
            at += 1
            return
        }
        while true {
            try passItem(&self)
            switch try next() {
            case UInt8(ascii: ","): at += 1
            case end:
                at += 1
                return
            default: throw Found(reason: "expected a comma or the end of what was begun")
            }
        }
    }

    private mutating func passText() throws(Found) {
        at += 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
            guard bytes[at] >= 0x20 else { throw Found(reason: "a control character in a text") }
            at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard at < bytes.count else {
            at = bytes.count
            throw Found(reason: "a text without its closing quote")
        }
        at += 1
    }

    /// A number, true, false or null.
    private mutating func passWord() throws(Found) {
        let isPart = { (byte: UInt8) in
            Character(Unicode.Scalar(byte)).isLetter || (0x2B...0x2E).contains(byte) && byte != 0x2C
                || (0x30...0x39).contains(byte)
        }
        let end = bytes[at...].firstIndex { !isPart($0) } ?? bytes.count
        let word = bytes[at..<end]
        let isKnown = ["true", "false", "null"].contains { word.elementsEqual($0.utf8) }
        guard isKnown || Self.isNumber(word) else { throw Found(reason: "expected a value") }
        at = end
    }

    /// Clause 6: a minus, digits without a leading zero, a fraction, an exponent.
    private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        func digits() -> Int {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        func take(_ signs: String) -> Bool {
            guard let byte = rest.first, signs.utf8.contains(byte) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = take("-")
        let hasZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, whole == 1 || !hasZero else { return false }
        if take("."), digits() == 0 { return false }
        if take("eE") {
            _ = take("+-")
            if digits() == 0 { return false }
        }
        return rest.isEmpty
    }
}
