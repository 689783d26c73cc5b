public import LazyImages

extension ImageDownloader.Configuration {
    /// The default configuration, without retries.
    public static var once: Self { with { $0.retry = .never } }

    /// The default configuration, changed.
    public static func with(_ change: (inout Self) -> Void) -> Self {
        var configuration = Self()
        change(&configuration)
        return configuration
    }
}
