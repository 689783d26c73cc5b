import ImageCodecs

/// What callers, or rows of a list, have in common when one load serves them: the file, and the size of the image. Their
/// priorities may differ.
struct LoadKey: Hashable, RequestKey {
    let file: FileLoader.Key
    let sizing: ImageSizing?

    init(_ request: ImageRequest) {
        file = FileLoader.Key(request)
        sizing = request.sizing
    }

    /// As the file's: the size hardly ever tells two loads apart.
    func hash(into hasher: inout Hasher) { hasher.combine(file) }
}
