/// What a row of a list shows.
public enum RowState: Sendable {
    /// Nothing yet: there is no image, it waits for the list to come to rest, or nobody looks at the row.
    case placeholder
    /// The image is on its way; 0 bytes received until the first arrive. `preview`: what it looks like so far, where the
    /// list's model was asked for that and there is something to be seen.
    case loading(progress: TransferProgress, preview: ImagePreview?)
    /// The image.
    case loaded(LoadedImage)
    /// The image could not be had. `isRetryable`: the same may well succeed later.
    case failed(reason: ImageLoadingError, isRetryable: Bool)
}

/// News of one row.
public struct RowUpdate: Sendable {
    /// Which row, from 0.
    public let row: Int
    /// What it shows from now on.
    public let state: RowState
    /// Which list the row belongs to: the number that `ImageListModel.setRows` gave, 0 for the first list. News of a list
    /// that was replaced may still be on its way to whoever replaced it.
    public let list: Int
}
