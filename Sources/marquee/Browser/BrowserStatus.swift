/// What the browser is busy with.
struct BrowserStatus {
    var visible = 0
    var loading = 0
    var deferred = 0
    /// Posters on the screen that could not be had.
    var failed = 0
    var memoryHits = 0
    var diskHits = 0
    /// How many times bytes have arrived since the browser began; nil while nothing is on its way.
    var arrivals: Int?
    /// What is to be said; nil if nothing is.
    var message: String?
    /// The time, in seconds since 1970, and since the browser began.
    var (now, seconds) = (0, 0)

    /// The figures, those that matter most first.
    var figures: [String] {
        [
            "\(visible) visible", "\(loading) loading", "\(deferred) deferred", "\(memoryHits) from memory",
            "\(diskHits) from disk",
        ]
    }

    /// `3 posters failed · r tries again`; empty if none has.
    var failures: String {
        failed == 0 ? "" : "\(failed) \(failed == 1 ? "poster" : "posters") failed · r tries again"
    }
}
