/// What a list is busy with, counted in images: rows that share an image count once, except for `visible`.
public struct ImageListCounters: Sendable, Hashable {
    /// Rows on the screen, those without an image included.
    public var visible = 0
    /// Loads under way for rows on the screen.
    public var running = 0
    /// Images of rows on the screen that wait for the list to come to rest.
    public var deferred = 0
    /// Loads under way for the page ahead.
    public var prefetching = 0
    /// Images of rows on the screen that could not be had.
    public var failed = 0
    /// Loads begun since the list was made.
    public var started = 0
}
