/// The browser's activity, for the status line.
struct BrowserStatus {
    var visible = 0
    var loading = 0
    var deferred = 0
    /// The posters on the screen that failed to load.
    var failed = 0
    var memoryHits = 0
    var diskHits = 0
    /// How many times bytes have arrived since the browser began; nil while nothing is loading.
    var arrivals: Int?
    /// The message to show; nil if there is none.
    var message: String?
    /// Whether the message stays after the next key.
    var isStanding = false
    /// The time, in seconds since 1970, and since the browser began.
    var (now, seconds) = (0, 0)

    /// The figures, the most important first.
    var figures: [String] {
        [
            "\(visible) visible", "\(loading) loading", "\(deferred) deferred", "\(memoryHits) from memory",
            "\(diskHits) from disk",
        ]
    }

    /// `3 posters failed · r tries again`; empty if none failed.
    var failures: String {
        failed == 0 ? "" : "\(failed) \(failed == 1 ? "poster" : "posters") failed · r tries again"
    }
}
