/// The state of a list as counts of images. Rows that share an image count once, except in ``visible``.
public struct ImageListCounters: Sendable, Hashable {
    /// Visible rows, with or without an image.
    public var visible = 0
    /// Loads in progress for visible rows.
    public var running = 0
    /// Images of visible rows that wait for the list to rest.
    public var deferred = 0
    /// Loads in progress for the page ahead.
    public var prefetching = 0
    /// Images of visible rows whose loads failed.
    public var failed = 0
    /// Loads begun since the list was made.
    public var started = 0
}
