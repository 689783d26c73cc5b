/// One thing that happened to a transfer.
public struct TransferEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// It was asked for and waits for a place.
        case waiting
        /// It has its place, after waiting so long.
        case started(queueWait: Duration)
        /// It was led on to another place.
        case redirected(to: String)
        /// Its answer is there, with this status.
        case finished(status: Int, metrics: TransferMetrics)
        /// It came to nothing.
        case failed(ImageLoadingError, metrics: TransferMetrics?)
        /// What it came to may pass: it is tried again after so long.
        case retrying(after: Duration)
    }

    /// The same for all events of one transfer, and like no other's of one downloader.
    public let transfer: Int
    /// Where it goes, without credentials.
    public let url: String
    /// What happened.
    public let kind: Kind
}
