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
        var steps: [Step] = []
        while let part = parts.first, let step = step(part, after: steps) {
            parts.removeFirst()
            steps.append(step)
        }
        guard steps.count <= mostSteps, steps.isEmpty || size != .original else { return nil }
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
        return PictureRecipe(size: size, steps: steps, encoding: encoding, expiry: expiry, tag: tag)
    }

    /// The most steps of a recipe.
    private static let mostSteps = 8

    /// Reads one step; nil if the part is none.
    /// - Parameter earlier: the steps before it.
    private static func step(_ part: Substring, after earlier: [Step]) -> Step? {
        let name = part.prefix { $0.isASCII && $0.isLetter }
        let rest = part.dropFirst(name.count)
        let processor: ImageProcessor? =
            switch name {
            case "crop": crop(rest)
            case "round": side(rest).map { .roundedCorners(radius: Double($0)) }
            case "circle": rest.isEmpty ? .circle : nil
            case "border": border(rest, after: earlier)
            case "blur": number(rest, upTo: longestBlur).map { .blur(radius: Double($0)) }
            case "mirror": rest.isEmpty ? .flip(.horizontal) : nil
            case "turn": rotations[rest].map { .rotate($0) }
            case "pad": padding(rest)
            default: nil
            }
        return processor.map { Step(text: String(part), processor: $0) }
    }

    /// The greatest standard deviation of a blur. A larger one makes every picture of one color.
    private static let longestBlur = 1000
    private static let rotations: [Substring: ImageRotation] = ["90": .right, "180": .half, "270": .left]

    private static func crop(_ text: Substring) -> ImageProcessor? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let x = place(parts[0]), let y = place(parts[1]),
            case .box(let box) = size(parts[2])
        else { return nil }
        return .crop(ImageRect(x: x, y: y, width: box.width, height: box.height))
    }

    private static func padding(_ text: Substring) -> ImageProcessor? {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let inset = side(parts[0]) else { return nil }
        guard parts.count == 2 else { return .padding(ImageInsets(inset)) }
        return color(parts[1]).map { .padding(ImageInsets(inset), background: $0) }
    }

    private static func border(_ text: Substring, after earlier: [Step]) -> ImageProcessor? {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let width = side(parts[0]), let color = color(parts[1]) else { return nil }
        return .border(color, width: width, cornerRadius: earlier.last?.processor.cornerRadius ?? 0)
    }

    /// Six hexadecimal digits in lower case, or eight with an alpha below `ff`.
    private static func color(_ digits: Substring) -> ImageColor? {
        guard [6, 8].contains(digits.utf8.count),
            digits.utf8.allSatisfy({ $0.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }),
            let value = UInt32(digits.utf8.count == 6 ? digits + "ff" : digits, radix: 16),
            digits.utf8.count == 6 || value & 0xFF != 0xFF
        else { return nil }
        func channel(_ bits: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value >> bits) }
        return ImageColor(red: channel(24), green: channel(16), blue: channel(8), alpha: channel(0))
    }

    /// A column or a row: a whole number without leading zeros.
    private static func place(_ digits: Substring) -> Int? { digits == "0" ? 0 : side(digits) }

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
