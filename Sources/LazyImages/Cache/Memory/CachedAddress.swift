public import FoundationEssentials

/// A value that knows where it is from.
public protocol CachedAddress {
    /// Where it came from, after redirects.
    var url: URL { get }
    /// What was asked for, before redirects.
    var requestedURL: URL { get }
}
