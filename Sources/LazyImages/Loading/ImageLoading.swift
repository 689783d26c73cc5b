/// Loads images for a list. Implemented by ``ImageLoader``, whose methods of the same names say more.
public protocol ImageLoading: Sendable {
    /// The image in memory, at once.
    /// - Parameter request: the image to load.
    func cachedImage(for request: ImageRequest) -> LoadedImage?

    /// Begins to load an image. Returns at once, so that loads begin in the order of the calls.
    /// - Parameter request: the image to load.
    func task(for request: ImageRequest) -> ImageTask

    /// Keeps an image in memory until the pin is released. Nil if memory does not have the image.
    /// - Parameter request: the request of the image and its size.
    func pin(_ request: ImageRequest) -> MemoryPin?
}

extension ImageLoading {
    /// Nil, for loaders that cannot pin.
    /// - Parameter request: the request of the image and its size.
    public func pin(_ request: ImageRequest) -> MemoryPin? { nil }
}

extension ImageLoader: ImageLoading {}
