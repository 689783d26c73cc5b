/// Loads images for a list. Implemented by ``ImageLoader``, whose methods of the same names say more.
public protocol ImageLoading: Sendable {
    /// The image in memory, at once.
    /// - Parameter request: the image to load.
    func cachedImage(for request: ImageRequest) -> LoadedImage?

    /// Begins to load an image. Returns at once, so that loads begin in the order of the calls.
    /// - Parameter request: the image to load.
    func task(for request: ImageRequest) -> ImageTask

    /// Pins an image in memory while it is on the screen. Calls come in pairs: true, then false.
    /// - Parameters:
    ///   - isPinned: whether the image is on the screen now.
    ///   - request: the request of the image and its size.
    func setPinned(_ isPinned: Bool, for request: ImageRequest)
}

extension ImageLoading {
    /// Does nothing, for loaders that cannot pin.
    /// - Parameters:
    ///   - isPinned: whether the image is on the screen now.
    ///   - request: the request of the image and its size.
    public func setPinned(_ isPinned: Bool, for request: ImageRequest) {}
}

extension ImageLoader: ImageLoading {}
