public import FoundationEssentials

/// One step of a pipeline that changes a decoded image.
///
///     request.processors = [.resize(size: size, contentMode: .fill(.top)), .roundedCorners(radius: 12)]
///
/// Steps run in their order, on the loader's decoding threads. The parameters are checked before anything is loaded. A
/// program's own processor stands beside them: see ``ImageProcessing``.
public struct ImageProcessor: ImageProcessing, Hashable {
    /// The name of the step with its parameters. Two processors are equal if their identifiers are.
    public let identifier: String
    package let step: Step

    package enum Step: Sendable {
        case resize(ImageSizing)
        case crop(ImageRect)
        case roundedCorners(radius: Double)
        case circle
        case border(ImageColor, width: Int, radius: Double)
        case blur(radius: Double)
        case flip(ImageAxis)
        case rotate(degrees: Int)
        case padding(ImageInsets, ImageColor)
        case grayscale
        case tint(ImageColor)
        case overlay(Bitmap, ImageContentMode.Anchor)
        case custom(any ImageProcessing)
    }

    fileprivate init(_ identifier: String, _ step: Step) { (self.identifier, self.step) = (identifier, step) }

    /// A step of the library, or a program's own.
    package init(_ processing: any ImageProcessing) {
        self =
            processing as? ImageProcessor
            ?? ImageProcessor("custom \(processing.identifier)", .custom(processing))
    }

    /// A program's own processor as a closure.
    /// - Parameters:
    ///   - identifier: the name of the change, with its version and its parameters.
    ///   - process: the changed image.
    public init(_ identifier: String, process: @escaping @Sendable (Bitmap) throws -> Bitmap) {
        self.init(ClosureProcessor(identifier: identifier, closure: process))
    }

    /// The changed image, within the standard limits.
    /// - Parameter image: the image.
    public func process(_ image: Bitmap) throws(ImageProcessingError) -> Bitmap {
        try image.processed(by: [self])
    }

    /// The longest side, in pixels.
    fileprivate static let longestSide = 65_535
}

extension ImageProcessing where Self == ImageProcessor {
    /// Resizes the image, without enlarging it. As the first step it is the size to decode to.
    /// - Parameters:
    ///   - size: the size, in pixels.
    ///   - contentMode: how to resize an image with other proportions. Default: `fit`.
    public static func resize(size: ImageSize, contentMode: ImageContentMode = .fit) -> ImageProcessor {
        let sizing = ImageSizing(size, mode: contentMode)
        return ImageProcessor("resize \(sizing.name)", .resize(sizing))
    }

    /// Resizes the image to at most this width, without enlarging it.
    /// - Parameter width: in pixels.
    public static func resize(width: Int) -> ImageProcessor {
        resize(size: ImageSize(width: width, height: ImageProcessor.longestSide))
    }

    /// Resizes the image to at most this height, without enlarging it.
    /// - Parameter height: in pixels.
    public static func resize(height: Int) -> ImageProcessor {
        resize(size: ImageSize(width: ImageProcessor.longestSide, height: height))
    }

    /// Keeps a part of the image: what lies inside it.
    /// - Parameter rect: the part, in pixels.
    public static func crop(_ rect: ImageRect) -> ImageProcessor {
        ImageProcessor("crop \(rect)", .crop(rect))
    }

    /// Makes the corners round, and transparent outside.
    /// - Parameter radius: in pixels; at most half of the shorter side is used.
    public static func roundedCorners(radius: Double) -> ImageProcessor {
        ImageProcessor("rounded corners \(radius)", .roundedCorners(radius: radius))
    }

    /// Crops the image to the square in its centre, and keeps the circle in it.
    public static func circle() -> ImageProcessor { ImageProcessor("circle", .circle) }

    /// Draws a border inside the edges.
    /// - Parameters:
    ///   - color: its color.
    ///   - width: its width, in pixels.
    ///   - cornerRadius: the radius of its outer corners, in pixels; `.infinity` for a circle. Default: 0.
    public static func border(
        _ color: ImageColor, width: Int, cornerRadius: Double = 0
    ) -> ImageProcessor {
        ImageProcessor(
            "border \(color) \(width) \(cornerRadius)", .border(color, width: width, radius: cornerRadius))
    }

    /// Blurs the image: three box filters in place of a Gaussian (Gwosdek and others, Theoretical Foundations of
    /// Gaussian Convolution by Extended Box Filtering, 2011). From a radius of 1 on, a level differs from the Gaussian's
    /// by at most 4. Pixels at the edge continue outside.
    /// - Parameter radius: the standard deviation of the Gaussian, in pixels, at most 10,000.
    public static func gaussianBlur(radius: Double) -> ImageProcessor {
        ImageProcessor("blur \(radius)", .blur(radius: radius))
    }

    /// Mirrors the image.
    /// - Parameter axis: `horizontal` exchanges left and right.
    public static func flip(_ axis: ImageAxis) -> ImageProcessor {
        ImageProcessor("flip \(axis)", .flip(axis))
    }

    /// Rotates the image clockwise.
    /// - Parameter degrees: a multiple of 90; negative numbers rotate counterclockwise.
    public static func rotate(_ degrees: Int) -> ImageProcessor {
        ImageProcessor("rotate \(degrees)", .rotate(degrees: degrees))
    }

    /// Adds room around the image.
    /// - Parameters:
    ///   - insets: how much on each side, in pixels; a number for all sides.
    ///   - background: the color of the room. Default: transparent.
    public static func padding(
        _ insets: ImageInsets, background: ImageColor = .clear
    ) -> ImageProcessor {
        ImageProcessor("padding \(insets) \(background)", .padding(insets, background))
    }

    /// Takes the colors away: each channel becomes the luma of Rec. 709, 0.2126 R + 0.7152 G + 0.0722 B.
    public static var grayscale: ImageProcessor { ImageProcessor("grayscale", .grayscale) }

    /// Draws a color over the image, only where that is (Porter and Duff's "atop"). An opaque color leaves its shape.
    /// - Parameter color: the color; its alpha says how much it covers.
    public static func tint(_ color: ImageColor) -> ImageProcessor {
        ImageProcessor("tint \(color)", .tint(color))
    }

    /// Draws a bitmap over the image, at its own size (Porter and Duff's "over"): a badge, a watermark.
    /// - Parameters:
    ///   - bitmap: the bitmap. What does not fit is cut off.
    ///   - anchor: the part of the image where it lies. Default: the center.
    public static func overlay(
        _ bitmap: Bitmap, at anchor: ImageContentMode.Anchor = .center
    ) -> ImageProcessor {
        // FNV-1a: the same in every process, because the disk tier may keep the result.
        let hash = bitmap.pixels.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return ImageProcessor(
            "overlay \(bitmap.width)x\(bitmap.height) \(hash) \(anchor.rawValue)", .overlay(bitmap, anchor))
    }
}

extension ImageProcessor {
    /// The size to decode to, if this step resizes.
    package var sizing: ImageSizing? { if case .resize(let sizing) = step { sizing } else { nil } }

    /// The radius of the corners that this step makes; nil for other steps.
    package var cornerRadius: Double? {
        switch step {
        case .roundedCorners(let radius): radius
        case .circle: .infinity
        default: nil
        }
    }

    /// The peak memory use of the step in bytes, with the result and without the image that it changes. An upper bound.
    /// - Parameter size: the size of the image, and then that of the result.
    package func memory(changing size: inout ImageSize) -> Int {
        let before = size
        switch step {
        case .resize(let sizing):
            let layout = PictureLayout(size, to: sizing)
            size = layout.size
            return Bitmap.memoryToResample(from: before, to: layout.scaled)
        case .crop(let rect):
            size = ImageSize(
                width: min(size.width, rect.size.width), height: min(size.height, rect.size.height))
        case .circle:
            let side = min(size.width, size.height)
            size = ImageSize(width: side, height: side)
        case .rotate(let degrees):
            if degrees % 180 != 0 { size = ImageSize(width: size.height, height: size.width) }
        case .flip: break
        case .padding(let insets, _):
            size.width += insets.left + insets.right
            size.height += insets.top + insets.bottom
        case .blur: return ExtendedBox.memory(longest: max(size.width, size.height))
        case .roundedCorners, .border, .grayscale, .tint, .overlay, .custom: break
        }
        return size.bitmapBytes
    }

    /// Whether the identifiers are equal.
    public static func == (one: Self, other: Self) -> Bool { one.identifier == other.identifier }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

private struct ClosureProcessor: ImageProcessing {
    let identifier: String
    let closure: @Sendable (Bitmap) throws -> Bitmap

    func process(_ image: Bitmap) throws -> Bitmap { try closure(image) }
}

/// A direction of mirroring.
public enum ImageAxis: String, Sendable, Hashable, CaseIterable {
    /// Left and right, or top and bottom.
    case horizontal, vertical
}

/// A part of an image, in pixels from its top left corner.
public struct ImageRect: Sendable, Hashable, CustomStringConvertible {
    /// The column of the left edge, and the row of the top edge.
    public var x: Int, y: Int
    /// The size.
    public var size: ImageSize

    /// Creates a rectangle.
    /// - Parameters:
    ///   - x: the column of the left edge.
    ///   - y: the row of the top edge.
    ///   - width: in pixels.
    ///   - height: in pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
        (self.x, self.y) = (x, y)
        size = ImageSize(width: width, height: height)
    }

    /// `10,20 300x200`.
    public var description: String { "\(x),\(y) \(size.width)x\(size.height)" }
}

/// The room around an image, in pixels. A literal is the same at all sides.
public struct ImageInsets: Sendable, Hashable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// Pixels at each side.
    public var top: Int, left: Int, bottom: Int, right: Int

    /// Creates insets.
    /// - Parameters:
    ///   - top: pixels at the top. Default: 0.
    ///   - left: pixels at the left. Default: 0.
    ///   - bottom: pixels at the bottom. Default: 0.
    ///   - right: pixels at the right. Default: 0.
    public init(top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0) {
        (self.top, self.left, self.bottom, self.right) = (top, left, bottom, right)
    }

    /// The same insets at all sides.
    /// - Parameter all: in pixels.
    public init(_ all: Int) { self.init(top: all, left: all, bottom: all, right: all) }

    /// The same insets at all sides.
    /// - Parameter all: in pixels.
    public init(integerLiteral all: Int) { self.init(all) }

    /// `1,2,3,4`.
    public var description: String { "\(top),\(left),\(bottom),\(right)" }
}

/// A color with an alpha that is not premultiplied.
public struct ImageColor: Sendable, Hashable, CustomStringConvertible {
    /// The channels, 0 to 255. An alpha of 255 is opaque.
    public var red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8

    /// Creates a color.
    /// - Parameters:
    ///   - red: 0 to 255.
    ///   - green: 0 to 255.
    ///   - blue: 0 to 255.
    ///   - alpha: 255 is opaque. Default: 255.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Transparent.
    public static let clear = ImageColor(red: 0, green: 0, blue: 0, alpha: 0)
    /// Opaque black.
    public static let black = ImageColor(red: 0, green: 0, blue: 0)
    /// Opaque white.
    public static let white = ImageColor(red: 255, green: 255, blue: 255)

    /// `ff8000ff`: red, green, blue and alpha.
    public var description: String {
        [red, green, blue, alpha].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension ImageSizing {
    /// `342x513`, `342x513-fill-top`.
    package var name: String {
        "\(target.width)x\(target.height)" + (mode.anchor.map { "-fill-\($0.rawValue)" } ?? "")
    }
}

/// A change of a decoded image that a program defines. ``ImageProcessor`` has the usual ones.
///
///     struct Sepia: ImageProcessing {
///         let identifier = "sepia 1"
///         func process(_ image: Bitmap) throws -> Bitmap { … }
///     }
///     request.processors = [.circle(), Sepia()]
public protocol ImageProcessing: Sendable {
    /// The name of the change, with its version and its parameters. It is part of the cache key: processors with equal
    /// identifiers must give equal results.
    var identifier: String { get }

    /// The changed image. Called on decoding threads, for several images at once. An error fails the load.
    /// - Parameter image: the result of the step before.
    func process(_ image: Bitmap) throws -> Bitmap
}

/// Why a processor gives no image.
public enum ImageProcessingError: Error, Sendable, Hashable {
    /// A parameter that no image can have, such as a negative radius.
    case invalidParameter(processor: String, reason: String)
    /// The processor does not fit this image: a part to crop to that lies outside.
    case unsuitable(processor: String, reason: String)
    /// The result would exceed the ``DecodingLimits``.
    case tooLarge(processor: String, size: ImageSize)
    /// A program's own processor threw an error; `reason` describes it.
    case failed(processor: String, reason: String)
}

extension ImageProcessingError: CustomStringConvertible, LocalizedError {
    /// As `description`.
    public var errorDescription: String? { description }

    /// What is wrong, on one line.
    public var description: String {
        switch self {
        case .invalidParameter(let processor, let reason), .unsuitable(let processor, let reason),
            .failed(let processor, let reason):
            "\(processor): \(reason)"
        case .tooLarge(let processor, let size):
            "\(processor): the result of \(size.width) x \(size.height) pixels is too large"
        }
    }
}
