/// The rules of a ``FetchGuard``, in the order in which they apply. A refusal names the rule.
public enum FetchRule: Sendable, Hashable, CaseIterable {
    /// Only https, and plain http where it is allowed.
    case scheme
    /// Only listed hosts, and no credentials in the URL.
    case host
    /// Only the ports 80 and 443, or the port that is listed.
    case port
    /// Only public addresses, and those of allowed networks.
    case address
}
