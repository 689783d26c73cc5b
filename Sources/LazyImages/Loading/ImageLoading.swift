/// Loads images for a list. ``ImageLoader`` is the real one; its methods of the same names say more.
public protocol ImageLoading: Sendable {
    /// What memory has, at once.
    /// - Parameter request: what to load.
    func cachedImage(for request: ImageRequest) -> LoadedImage?

    /// Begins to load what `request` names. Returns at once, so that loads begin in the order in which they are asked for.
    /// - Parameter request: what to load.
    func task(for request: ImageRequest) -> ImageTask

    /// Whether an image that was loaded is on the screen, and memory must keep it. Calls come in pairs: true, then false.
    /// - Parameters:
    ///   - isPinned: whether the image is on the screen now.
    ///   - request: names the image and its size.
    func setPinned(_ isPinned: Bool, for request: ImageRequest)
}

extension ImageLoading {
    /// Does nothing, for loaders whose memory keeps no image from being let go.
    /// - Parameters:
    ///   - isPinned: whether the image is on the screen now.
    ///   - request: names the image and its size.
    public func setPinned(_ isPinned: Bool, for request: ImageRequest) {}
}

extension ImageLoader: ImageLoading {}
