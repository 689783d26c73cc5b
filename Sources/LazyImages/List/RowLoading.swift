/// What loads the images of a list's rows. `ImageLoader` is the real one; its methods of the same names say more.
public protocol RowLoading: Sendable {
    /// What a row shows.
    associatedtype Image: Sendable

    /// What memory has, at once.
    func cachedImage(for request: ImageRequest) -> Image?

    /// Loads what `request` names, for one caller, who may leave by cancelling its task. Begins on the caller's actor,
    /// so that loads begin in the order in which they are asked for.
    /// - Parameters:
    ///   - ticket: stands for this caller in `setPriority`.
    ///   - progress: is told how far the load is.
    ///   - previews: is given what the image looks like meanwhile; nil if nobody wants to see that.
    nonisolated(nonsending) func image(
        for request: ImageRequest, ticket: LoadTicket,
        progress: AsyncStream<TransferProgress>.Continuation?,
        previews: AsyncStream<ImagePreview>.Continuation?
    ) async throws(ImageLoadingError) -> Image

    /// Gives the caller behind `ticket` another priority. Begins on the caller's actor, as a load does.
    nonisolated(nonsending) func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) async

    /// Whether an image that was loaded is on the screen, and memory must keep it. Calls come in pairs: true, then false.
    func setPinned(_ isPinned: Bool, for request: ImageRequest)
}

extension RowLoading {
    /// Does nothing, for loaders whose memory keeps no image from being let go.
    public func setPinned(_ isPinned: Bool, for request: ImageRequest) {}
}

extension ImageLoader: RowLoading {}
