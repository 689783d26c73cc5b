/// A change of a decoded image that a program defines. ``ImageProcessor`` has the usual ones.
///
///     struct Sepia: ImageProcessing {
///         let identifier = "sepia 1"
///         func process(_ image: Bitmap) throws -> Bitmap { … }
///     }
///     request.processors = [.circle, .custom(Sepia())]
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

extension ImageProcessingError: CustomStringConvertible {
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
