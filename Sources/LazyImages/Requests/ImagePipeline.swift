import ImageCodecs

/// What a load makes of an image's file: it decodes it to a size, and then takes some steps.
struct ImagePipeline: Sendable {
    /// The size to decode to; nil for the image's own size.
    let sizing: ImageSizing?
    /// The steps after that.
    let steps: [ImageProcessor]
    /// The format in which the disk tier keeps the result; nil for not there.
    let resultFormat: ImageRequest.ResultFormat?

    /// Without a target size, a first step that resizes is the size to decode to. The result is stored only if it is
    /// not the image as it is.
    init(
        _ targetSize: ImageSize?, _ contentMode: ContentMode, _ processors: [ImageProcessor],
        storing format: ImageRequest.ResultFormat?
    ) {
        if let targetSize {
            sizing = ImageSizing(targetSize, mode: contentMode)
            steps = processors
        } else {
            sizing = processors.first?.sizing
            steps = sizing == nil ? processors : Array(processors.dropFirst())
        }
        resultFormat = sizing == nil && steps.isEmpty ? nil : format
    }

    /// Gives the image as it is.
    static let none = ImagePipeline(nil, .fit, [], storing: nil)

    /// The name of the result in its cache key; nil for the image as it is. Pipelines with equal names give equal
    /// results. Each step's name has its length before it, so that no name can look like two.
    var name: String? {
        let size = sizing?.name
        guard !steps.isEmpty || resultFormat != nil else { return size }
        var name = size ?? ""
        for step in steps { name += "|\(step.identifier.utf8.count):\(step.identifier)" }
        if let resultFormat { name += "|\(resultFormat)" }
        return name
    }

    /// The version of the steps. It grows whenever a step gives other pixels: stored results are then made anew.
    private static let version = 1

    /// The key of the result of a file on disk; nil if it is not stored there. It names the file by its content: a
    /// changed file never gives an old result.
    /// - Parameter content: the SHA-256 of the file.
    func resultKey(ofContent content: String) -> CacheKey? {
        guard resultFormat != nil, let name else { return nil }
        return CacheKey(id: "result \(Self.version) \(content) \(name)")
    }
}
