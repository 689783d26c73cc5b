/// Finds the long arrays of a JSON document, so that each can be decoded in pieces. A decoder needs about 90 bytes for
/// every value, which for a large catalogue is several times its size.
///
/// It parses only strings and nesting. Foundation's decoder checks the pieces and the rest of the document.
///
///     {"name": "Silents", "movies": [{"id": "a"}, {"id": "b"}]}       the document
///     {"name": "Silents", "movies": []}                               the rest of the document
///     [{"id": "a"}]  [{"id": "b"}]                                    the pieces, if each is long enough for one
struct JSONOutline {
    /// An array of the root object by its key, or the document itself.
    struct LongArray {
        /// The array's key with its quotation marks; nil for the document itself.
        let key: Range<Int>?
        /// The range between the brackets.
        fileprivate(set) var content: Range<Int>
        /// The content in pieces of whole elements, without the commas between them.
        fileprivate(set) var pieces: [Range<Int>] = []
    }

    /// The shortest piece, in bytes: it ends with the element that reaches this size.
    static let pieceBytes = 128 << 10

    /// The first array for each key, or the document.
    private(set) var arrays: [LongArray] = []
    /// An upper bound of the number of values: one, plus one for each comma and opening bracket.
    private(set) var values = 1

    private var depth = 0
    private var isRootObject = false
    /// The last string in the root object: the key, if a bracket follows.
    private var string = 0..<0
    /// The start of the current piece; nil outside long arrays.
    private var piece: Int?

    /// Nil if a string or bracket is unbalanced.
    /// - Parameters:
    ///   - bytes: UTF-8.
    ///   - keys: the keys of arrays that may be long, in quotation marks: `"movies"`. A key written with escapes is not
    ///     found, and its array stays in the document.
    init?(_ bytes: Span<UInt8>, keys: [[UInt8]]) {
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                guard let end = Self.endOfString(from: index, in: bytes) else { return nil }
                if depth == 1 { string = index..<end }
                index = end
                continue
            case UInt8(ascii: "["):
                open(at: index)
                if wants(bytes, keys) { begin(after: index) }
            case UInt8(ascii: "{"):
                if depth == 0 { isRootObject = true }
                open(at: index)
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                if depth < 0 { return nil }
                if piece != nil, depth == longDepth - 1 { end(at: index) }
            case UInt8(ascii: ","):
                values += 1
                if let start = piece, depth == longDepth, index - start >= Self.pieceBytes {
                    arrays[arrays.count - 1].pieces.append(start..<index)
                    piece = index + 1
                }
            default: break
            }
            index += 1
        }
        if depth != 0 { return nil }
    }

    /// The depth of a long array's elements.
    private var longDepth: Int { isRootObject ? 2 : 1 }

    private mutating func open(at index: Int) {
        values += 1
        depth += 1
    }

    /// Whether the array that begins here may be long.
    private func wants(_ bytes: Span<UInt8>, _ keys: [[UInt8]]) -> Bool {
        guard depth == longDepth, piece == nil else { return false }
        guard isRootObject else { return arrays.isEmpty }
        func isString(_ key: [UInt8], _ range: Range<Int>) -> Bool {
            range.count == key.count && key.indices.allSatisfy { key[$0] == bytes[range.lowerBound + $0] }
        }
        // The first of two members with one name counts.
        return keys.contains { key in
            isString(key, string) && !arrays.contains { $0.key.map { isString(key, $0) } ?? false }
        }
    }

    private mutating func begin(after bracket: Int) {
        piece = bracket + 1
        arrays.append(
            LongArray(key: isRootObject ? string : nil, content: bracket + 1..<bracket + 1))
    }

    private mutating func end(at bracket: Int) {
        guard let start = piece else { return }
        arrays[arrays.count - 1].pieces.append(start..<bracket)
        arrays[arrays.count - 1].content = arrays[arrays.count - 1].content.lowerBound..<bracket
        piece = nil
    }

    /// The index after the closing quotation mark of the string that begins at `start`.
    private static func endOfString(from start: Int, in bytes: Span<UInt8>) -> Int? {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index + 1
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }
}
