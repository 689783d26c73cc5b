internal import HTTPSemantics
public import ImageCodecs

/// How to make a picture from its source: a size, then steps, then the encoding. It has a text, which stands in the
/// addresses of the picture service and on the command line of `marquee picture`.
///
///     let poster = try PictureRecipe(.fill(ImageSize(width: 342, height: 513)), steps: [.roundedCorners(radius: 12)])
///     let same = try PictureRecipe("342x513.fill.round12")
///
///     w342                    at most 342 pixels wide
///     x513                    at most 513 pixels high
///     342x513                 fits into 342 x 513 pixels
///     342x513.fill            covers them, cropped to the center
///     original                the source's own bytes
///
///     .crop10-20-300x400      the part at column 10 and row 20
///     .round12                round corners with a radius of 12 pixels
///     .circle                 the circle in the center
///     .border2-ff8000         a border of 2 pixels, along the round corners of the step before it
///     .blur8                  a Gaussian blur with a standard deviation of 8 pixels
///     .mirror, .flip          left and right exchanged; top and bottom
///     .turn90                 turned clockwise by 90, 180 or 270 degrees
///     .pad8-ffffff            8 pixels of room around it; without a color it is transparent
///
/// Other processors have no text, and neither has a border whose corners are not those of the step before it, or a radius
/// that is not a whole number.
///
///     .q60                    the quality of a JPEG, 1 to 100; default 80
///     .png                    always a PNG
///     .e1790000000            refused from this time on, in seconds since 1970
///     .v2                     the author's own tag: a service lets caches keep a signed address with one for a year
///
/// At most eight steps, made in the order in which they are written. A color is `rrggbb`, or `rrggbbaa` with an alpha
/// below `ff`. A picture is never enlarged.
///
/// A recipe has one text, so that no cache stores a picture twice and a signature covers the text as written. The order
/// of the rest is fixed, numbers have no leading zeros, and no setting is repeated or without effect: `original` takes
/// neither steps, quality nor format, and a PNG takes no quality.
public struct PictureRecipe: Hashable, Sendable {
    /// The wanted size. Sides are 1 to 65,535 pixels.
    public enum Size: Hashable, Sendable {
        /// At most so many pixels wide.
        case width(Int)
        /// At most so many pixels high.
        case height(Int)
        /// Fits into the box.
        case box(ImageSize)
        /// Covers the box, and is cropped to its shape.
        case fill(ImageSize)
        /// The source's own bytes.
        case original
    }

    /// The format of the file.
    public enum Encoding: Hashable, Sendable {
        /// JPEG, or PNG if the picture has transparency. The quality is 1 to 100; nil is the default, 80.
        case automatic(quality: Int? = nil)
        /// PNG.
        case png
    }

    /// The wanted size.
    public let size: Size
    /// The changes after the size, in their order.
    public let steps: [ImageProcessor]
    /// The format.
    public let encoding: Encoding
    /// The time from which on a service refuses it, in seconds since 1970.
    public let expiry: Int?
    /// Any text of the author's, who promises in a signed address that its picture never changes.
    public let tag: String?

    /// The longest side in pixels: the longest of a JPEG. The shortest is 1.
    package static let longestSide = 65_535
    /// The recipe of the source's own bytes.
    package static let original = "original"
    /// The quality if a recipe names none.
    package static let standardQuality = 80
    /// The most characters of a tag.
    package static let longestTag = 64
    /// The latest expiry, in 3,000 years.
    private static let latestExpiry = 99_999_999_999
    /// The most steps of a recipe.
    private static let mostSteps = 8
    /// The greatest standard deviation of a blur. A larger one makes every picture of one color.
    private static let longestBlur = 1000
}

extension PictureRecipe {
    /// Creates a recipe.
    /// - Parameters:
    ///   - size: the wanted size.
    ///   - steps: the changes after it, at most eight. Default: none.
    ///   - encoding: the format. Default: JPEG, or PNG if the picture has transparency.
    ///   - expiry: the time from which on a service refuses it, in seconds since 1970. Default: nil, never.
    ///   - tag: 1 to 64 letters, digits, `-`, `_` and `~`. Default: nil.
    /// - Throws: `.malformedRecipe` if a number is out of its range, or a setting has no effect.
    public init(
        _ size: Size, steps: [ImageProcessor] = [], encoding: Encoding = .automatic(), expiry: Int? = nil,
        tag: String? = nil
    ) throws(PictureError) {
        let recipe = Self(size: size, steps: steps, encoding: encoding, expiry: expiry, tag: tag)
        // The text is refused for what is out of range. So the ranges are written once, where a text is read.
        let parsed = try Self(parsing: recipe.description)
        guard parsed == recipe else {
            let step = zip(steps, parsed.steps).first { $0 != $1 }?.0
            throw .malformedRecipe(recipe.description, part: step?.identifier ?? recipe.description)
        }
        self = recipe
    }

    /// Reads the text of a recipe.
    /// - Throws: `.malformedRecipe` for any other text.
    public init(_ text: String) throws(PictureError) {
        try self.init(parsing: text)
        guard description == text else {
            // Another spelling of the recipe's own text is refused.
            let parts = zip(text.split(separator: "."), description.split(separator: "."))
            throw .malformedRecipe(text, part: String(parts.first { $0 != $1 }?.0 ?? text[...]))
        }
    }

    /// The same recipe of a PNG.
    package var asPNG: PictureRecipe {
        PictureRecipe(size: size, steps: steps, encoding: .png, expiry: expiry, tag: tag)
    }
}

extension PictureRecipe: CustomStringConvertible {
    /// The text, as in an address.
    public var description: String {
        var text = shape
        switch encoding {
        case .automatic(let quality?): text += ".q\(quality)"
        case .automatic: break
        case .png: text += ".png"
        }
        if let expiry { text += ".e\(expiry)" }
        if let tag { text += ".v\(tag)" }
        return text
    }

    /// The part of the recipe that decides the bytes, in full: `w342.q80` for both `w342` and `w342.q80.v2`. It is part
    /// of the derivative's key, and lists of sizes are compared by it. Expiry, signature and tag do not change the
    /// picture.
    package var derivation: String {
        switch (size, encoding) {
        case (.original, _): shape
        case (_, .automatic(let quality)): "\(shape).q\(quality ?? Self.standardQuality)"
        case (_, .png): "\(shape).png"
        }
    }

    /// Size and steps.
    private var shape: String {
        var (shape, corners) = (sizeText, 0.0)
        for step in steps {
            shape += "." + (step.text(afterCorners: corners) ?? step.identifier)
            corners = step.cornerRadius ?? 0
        }
        return shape
    }

    private var sizeText: String {
        switch size {
        case .width(let width): "w\(width)"
        case .height(let height): "x\(height)"
        case .box(let box): "\(box.width)x\(box.height)"
        case .fill(let box): "\(box.width)x\(box.height).fill"
        case .original: Self.original
        }
    }
}

extension ImageProcessor {
    /// The text in a recipe; nil for a step that has none.
    /// - Parameter corners: the radius of the corners that the step before has made.
    fileprivate func text(afterCorners corners: Double) -> String? {
        switch step {
        case .crop(let rect): "crop\(rect.x)-\(rect.y)-\(rect.size.width)x\(rect.size.height)"
        case .roundedCorners(let radius): Int(exactly: radius).map { "round\($0)" }
        case .circle: "circle"
        case .border(let color, let width, corners): "border\(width)-\(Self.text(color))"
        case .blur(let radius): Int(exactly: radius).map { "blur\($0)" }
        case .flip(let axis): axis == .horizontal ? "mirror" : "flip"
        case .rotate(let degrees): "turn\(degrees)"
        case .padding(let insets, let background) where insets == ImageInsets(insets.top):
            "pad\(insets.top)" + (background == .clear ? "" : "-\(Self.text(background))")
        default: nil
        }
    }

    private static func text(_ color: ImageColor) -> String {
        String("\(color)".dropLast(color.alpha == 255 ? 2 : 0))
    }
}

// MARK: Reading a text

extension PictureRecipe {
    /// Reads a text, which may be another spelling of the recipe's own text.
    private init(parsing text: String) throws(PictureError) {
        var parts = text.split(separator: ".", omittingEmptySubsequences: false)[...]
        let first = parts.first ?? ""
        /// Takes the next part if it has this name, and a value after it.
        func take<Value>(_ name: String, _ value: (Substring) -> Value?) -> Value? {
            guard let part = parts.first, part.utf8.starts(with: name.utf8),
                let value = value(part.dropFirst(name.count))
            else { return nil }
            parts.removeFirst()
            return value
        }
        func takeWord(_ name: String) -> Bool { take(name) { $0.isEmpty ? true : nil } ?? false }

        var (size, steps, encoding) = (take("", Self.size), [ImageProcessor](), Encoding.automatic())
        if case .box(let box) = size, takeWord("fill") { size = .fill(box) }
        if size != nil, size != .original {
            while steps.count < Self.mostSteps, let step = take("", { Self.step($0, after: steps.last) }) {
                steps.append(step)
            }
            if let quality = take("q", { Self.number($0, upTo: 100) }) {
                encoding = .automatic(quality: quality)
            } else if takeWord("png") {
                encoding = .png
            }
        }
        let expiry = take("e") { Self.number($0, upTo: Self.latestExpiry) }
        let tag = take("v") { Self.isTag($0) ? String($0) : nil }
        guard let size, parts.isEmpty else {
            throw .malformedRecipe(text, part: String(size == nil ? first : parts.first ?? ""))
        }
        self.init(size: size, steps: steps, encoding: encoding, expiry: expiry, tag: tag)
    }

    /// Reads one step; nil if the part is none.
    private static func step(_ part: Substring, after last: ImageProcessor?) -> ImageProcessor? {
        let name = part.prefix { $0.isASCII && $0.isLetter }
        let rest = part.dropFirst(name.count)
        return switch name {
        case "crop": crop(rest)
        case "round": side(rest).map { .roundedCorners(radius: Double($0)) }
        case "circle": rest.isEmpty ? .circle() : nil
        case "border": border(rest, corners: last?.cornerRadius ?? 0)
        case "blur": number(rest, upTo: longestBlur).map { .gaussianBlur(radius: Double($0)) }
        case "mirror": rest.isEmpty ? .flip(.horizontal) : nil
        case "flip": rest.isEmpty ? .flip(.vertical) : nil
        case "turn": ["90", "180", "270"].contains(rest) ? Int(rest).map { .rotate($0) } : nil
        case "pad": padding(rest)
        default: nil
        }
    }

    private static func crop(_ text: Substring) -> ImageProcessor? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let x = place(parts[0]), let y = place(parts[1]),
            case .box(let box) = size(parts[2])
        else { return nil }
        return .crop(ImageRect(x: x, y: y, width: box.width, height: box.height))
    }

    private static func padding(_ text: Substring) -> ImageProcessor? {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let width = side(parts[0]) else { return nil }
        guard parts.count == 2 else { return .padding(ImageInsets(width)) }
        return color(parts[1]).map { .padding(ImageInsets(width), background: $0) }
    }

    private static func border(_ text: Substring, corners: Double) -> ImageProcessor? {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let width = side(parts[0]), let color = color(parts[1]) else { return nil }
        return .border(color, width: width, cornerRadius: corners)
    }

    /// Six or eight hexadecimal digits.
    private static func color(_ digits: Substring) -> ImageColor? {
        guard [6, 8].contains(digits.utf8.count), digits.utf8.allSatisfy({ $0.hexadecimalValue != nil }),
            let value = UInt32(digits.utf8.count == 6 ? digits + "ff" : digits, radix: 16)
        else { return nil }
        func channel(_ bits: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value >> bits) }
        return ImageColor(red: channel(24), green: channel(16), blue: channel(8), alpha: channel(0))
    }

    /// A column or a row.
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

    /// A whole number, 1 or more.
    private static func number(_ digits: Substring, upTo maximum: Int) -> Int? {
        guard digits.utf8.allSatisfy(\.isDigit), let number = Int(digits), (1...maximum).contains(number)
        else { return nil }
        return number
    }

    private static func isTag(_ text: Substring) -> Bool {
        (1...longestTag).contains(text.utf8.count) && text.utf8.allSatisfy(isTagCharacter)
    }

    /// The unreserved characters (RFC 3986 section 2.3) except the dot, which begins the next part.
    package static func isTagCharacter(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "-_~".utf8.contains(byte)
    }
}
