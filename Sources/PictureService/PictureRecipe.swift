package import ImageCodecs

/// How a picture is made of its source, as it stands in an address: a size, then what else matters, in this order.
///
///     w342                    342 pixels wide at most
///     x513                    513 pixels high at most
///     342x513                 fits into 342 x 513 pixels
///     342x513.fill            covers them, cropped to the centre
///     original                the source's own bytes
///
///     .q60                    the quality of a JPEG, 1 to 100; 80 unless told
///     .png                    a PNG, although a JPEG could hold it
///     .e1790000000            refused from this moment on, in seconds since 1970
///     .v2                     a tag of the author's own: the picture never changes under this address
///
/// A recipe has one spelling, so that no cache keeps a picture twice and a signature is made over the text as it stands. The
/// order is fixed, numbers have no leading zeros, and nothing is said twice or without an effect: `original` takes neither
/// quality nor format, and a PNG takes no quality. A picture is never enlarged.
package struct PictureRecipe: Hashable, Sendable {
    /// The size that is wanted, in pixels.
    package enum Size: Hashable, Sendable {
        case width(Int)
        case height(Int)
        case box(ImageSize)
        /// Covers the box and is cropped to its shape.
        case fill(ImageSize)
        /// The source's own bytes.
        case original
    }

    /// What the file is written as.
    package enum Encoding: Hashable, Sendable {
        /// JPEG, or PNG where there is transparency. A quality of nil is the standard one.
        case automatic(quality: Int?)
        case png
    }

    package let size: Size
    package let encoding: Encoding
    /// Seconds since 1970; from then on it is refused.
    package let expiry: Int?
    /// Whatever the author likes; a picture with a tag never changes.
    package let tag: String?

    /// A side is at least 1 pixel and has at most this many: the most that a JPEG can have.
    package static let longestSide = 65_535
    /// The recipe of the source's own bytes.
    package static let original = "original"
    /// The quality where a recipe names none.
    package static let standardQuality = 80
    /// Characters of a tag, at most.
    package static let longestTag = 64
    /// Digits of an expiry, at most: enough for 3,000 years.
    static let longestExpiry = 11

    init(size: Size, encoding: Encoding, expiry: Int?, tag: String?) {
        self.size = size
        self.encoding = encoding
        self.expiry = expiry
        self.tag = tag
    }
}

extension PictureRecipe: CustomStringConvertible {
    /// The recipe as it stands in an address; parsing gives it back.
    package var description: String {
        var text = sizeText
        switch encoding {
        case .automatic(let quality?): text += ".q\(quality)"
        case .automatic: break
        case .png: text += ".png"
        }
        if let expiry { text += ".e\(expiry)" }
        if let tag { text += ".v\(tag)" }
        return text
    }

    /// The part that decides the bytes, spelled out: `w342.q80` for `w342` and `w342.q80.v2` alike. It stands in the
    /// derivative's key, and lists of sizes are compared by it. When it expires, who signed it and how it is tagged make no
    /// other picture.
    package var derivation: String {
        switch (size, encoding) {
        case (.original, _): sizeText
        case (_, .automatic(let quality)): "\(sizeText).q\(quality ?? Self.standardQuality)"
        case (_, .png): "\(sizeText).png"
        }
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
