package import ImageCodecs

/// How to make a picture from its source, as written in an address: a size, then steps, then the other settings.
///
///     w342                    at most 342 pixels wide
///     x513                    at most 513 pixels high
///     342x513                 fits into 342 x 513 pixels
///     342x513.fill            covers them, cropped to the centre
///     original                the source's own bytes
///
///     .crop10-20-300x400      the part at column 10 and row 20
///     .round12                round corners with a radius of 12 pixels
///     .circle                 the circle in the centre
///     .border2-ff8000         a border of 2 pixels, along the round corners of the step before it
///     .blur8                  a Gaussian blur with a standard deviation of 8 pixels
///     .mirror                 left and right exchanged
///     .turn90                 turned clockwise by 90, 180 or 270 degrees
///     .pad8-ffffff            8 pixels of room around it; without a color it is transparent
///
///     .q60                    the quality of a JPEG, 1 to 100; default 80
///     .png                    always a PNG
///     .e1790000000            refused from this time on, in seconds since 1970
///     .v2                     the author's own tag: the picture at this address never changes
///
/// At most eight steps, made in the order in which they are written. A color is `rrggbb`, or `rrggbbaa` with an alpha
/// below `ff`.
///
/// A recipe has one spelling, so that no cache stores a picture twice and the signature covers the text as written. The
/// order of the rest is fixed, numbers have no leading zeros, and no setting is repeated or without effect: `original`
/// takes neither steps, quality nor format, and a PNG takes no quality. A picture is never enlarged.
package struct PictureRecipe: Hashable, Sendable {
    /// The wanted size in pixels.
    package enum Size: Hashable, Sendable {
        case width(Int)
        case height(Int)
        case box(ImageSize)
        /// Covers the box, and is cropped to its shape.
        case fill(ImageSize)
        /// The source's own bytes.
        case original
    }

    /// A change after the size.
    package struct Step: Hashable, Sendable {
        /// As written, without the dot.
        let text: String
        package let processor: ImageProcessor
    }

    /// The format of the file.
    package enum Encoding: Hashable, Sendable {
        /// JPEG, or PNG if the picture has transparency. A quality of nil is the default.
        case automatic(quality: Int?)
        case png
    }

    package let size: Size
    package let steps: [Step]
    package let encoding: Encoding
    /// The time from which on it is refused, in seconds since 1970.
    package let expiry: Int?
    /// Any text of the author's; a picture with a tag never changes.
    package let tag: String?

    /// The longest side in pixels: the longest of a JPEG. The shortest is 1.
    package static let longestSide = 65_535
    /// The recipe of the source's own bytes.
    package static let original = "original"
    /// The quality if a recipe names none.
    package static let standardQuality = 80
    /// The most characters of a tag.
    package static let longestTag = 64
    /// The most digits of an expiry: enough for 3,000 years.
    static let longestExpiry = 11

    /// The same recipe of a PNG.
    package var asPNG: PictureRecipe {
        PictureRecipe(size: size, steps: steps, encoding: .png, expiry: expiry, tag: tag)
    }

    init(size: Size, steps: [Step], encoding: Encoding, expiry: Int?, tag: String?) {
        self.size = size
        self.steps = steps
        self.encoding = encoding
        self.expiry = expiry
        self.tag = tag
    }
}

extension PictureRecipe: CustomStringConvertible {
    /// The recipe as written in an address; parsing gives it back.
    package var description: String {
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
    private var shape: String { steps.reduce(sizeText) { "\($0).\($1.text)" } }

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
