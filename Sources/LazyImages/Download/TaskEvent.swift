/// An event of shared work before its outcome.
enum TaskEvent: Sendable {
    /// The transfer has its slot. `queued` is the time that all its attempts have waited for slots so far.
    case started(queued: Duration)
    /// More of a body has arrived. Listeners must not keep the body beyond `ended`.
    case progress(TransferProgress, BodyBuffer?)
    /// More of a request's body has been sent.
    case sent(UploadProgress)
    case preview(ImagePreview)
    /// The image's file is loaded and is decoded next. Only the load of an image sends this.
    case file(LoadedFile)
    /// The work has its outcome, or the caller has left. No more events come.
    case ended
}

/// Hears the events of shared work, on the thread on which they happen.
final class TaskListener: Sendable {
    let hear: @Sendable (TaskEvent) -> Void
    let wantsPreviews: Bool

    init(wantsPreviews: Bool = false, _ hear: @escaping @Sendable (TaskEvent) -> Void) {
        self.hear = hear
        self.wantsPreviews = wantsPreviews
    }
}
