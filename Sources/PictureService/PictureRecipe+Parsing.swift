import HTTPSemantics
import ImageCodecs

extension PictureRecipe {
    /// Reads a recipe. Each recipe has only one spelling.
    /// - Throws: `.malformedRecipe` for any other text.
    package init(_ text: String) throws(PictureError) {
        guard let recipe = Self.parsed(text) else { throw .malformedRecipe(text) }
        self = recipe
    }

    private static func parsed(_ text: String) -> PictureRecipe? {
        var parts = text.split(separator: ".", omittingEmptySubsequences: false)[...]
        /// Takes the next part if it has this beginning, and returns the rest of the part.
        func next(_ beginning: String) -> Substring? {
            guard let part = parts.first, part.utf8.starts(with: beginning.utf8) else { return nil }
            parts.removeFirst()
            return part.dropFirst(beginning.count)
        }
        guard let first = parts.popFirst(), var size = size(first) else { return nil }
        if parts.first == "fill" {
            parts.removeFirst()
            guard case .box(let box) = size else { return nil }
            size = .fill(box)
        }
        var encoding = Encoding.automatic(quality: nil)
        if let digits = next("q") {
            guard let quality = number(digits, upTo: 100) else { return nil }
            encoding = .automatic(quality: quality)
        } else if parts.first == "png" {
            parts.removeFirst()
            encoding = .png
        }
        if size == .original, encoding != .automatic(quality: nil) { return nil }
        var expiry: Int?
        if let digits = next("e") {
            guard digits.utf8.count <= longestExpiry, let time = number(digits, upTo: .max) else {
                return nil
            }
            expiry = time
        }
        var tag: String?
        if let rest = next("v") {
            guard (1...longestTag).contains(rest.utf8.count), rest.utf8.allSatisfy(isTagCharacter) else {
                return nil
            }
            tag = String(rest)
        }
        guard parts.isEmpty else { return nil }
        return PictureRecipe(size: size, encoding: encoding, expiry: expiry, tag: tag)
    }

    private static func size(_ text: Substring) -> Size? {
        if text == "original" { return .original }
        if text.utf8.first == UInt8(ascii: "w") { return side(text.dropFirst()).map { .width($0) } }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let height = side(sides[1]) else { return nil }
        if sides[0].isEmpty { return .height(height) }
        return side(sides[0]).map { .box(ImageSize(width: $0, height: height)) }
    }

    private static func side(_ digits: Substring) -> Int? { number(digits, upTo: longestSide) }

    /// A whole number, 1 or more, without leading zeros.
    private static func number(_ digits: Substring, upTo maximum: Int) -> Int? {
        guard let first = digits.utf8.first, first != UInt8(ascii: "0"), digits.utf8.allSatisfy(\.isDigit),
            let number = Int(digits), number <= maximum
        else { return nil }
        return number
    }

    /// The unreserved characters (RFC 3986 section 2.3) except the dot, which begins the next part.
    static func isTagCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: byte.isDigit || "-_~".utf8.contains(byte)
        }
    }
}
