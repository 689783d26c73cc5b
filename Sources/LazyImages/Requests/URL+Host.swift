package import FoundationEssentials

extension URL {
    /// The host in lower case; empty where there is none.
    package var lowercasedHost: String { (host() ?? "").lowercased() }
}
