public import FoundationEssentials

/// One thing that happened to a transfer.
public struct TransferEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// It was asked for and waits for a place.
        case waiting
        /// It has its place, after waiting so long.
        case started(queueWait: Duration)
        /// It was led on to another place.
        case redirected(to: URL)
        /// It failed in a way that may pass, and is tried again after so long.
        case retrying(after: Duration, reason: ImageLoadingError)
        /// Its answer is there, an image or the word that nothing has changed.
        case finished(status: Int, metrics: TransferMetrics)
        /// It came to nothing.
        case failed(ImageLoadingError, metrics: TransferMetrics?)
    }

    /// The same for all events of one transfer, and like no other's of one downloader.
    public let transfer: Int
    /// Where it goes, without credentials.
    public let url: URL
    /// What happened.
    public let kind: Kind
}
