import FoundationEssentials
import LazyImages
import SystemSupport

/// Where addresses stand: what relative ones are relative to, and whose server the user's own header fields are for.
struct Place: Sendable {
    let base: URL
    /// The place that the user named. A redirect may have led from here to `base`, which earns it no credentials.
    let origin: URL

    /// A place without redirects.
    init(_ url: URL) {
        base = url
        origin = url
    }

    /// The place of what was found at `final` when `origin` was asked for (RFC 3986 section 5.1.3).
    init(origin: URL, redirectedTo final: URL) {
        self.origin = origin
        // Credentials in the address the user named are for everything at its origin.
        base = SecurityPolicy.haveSameOrigin(origin, final) ? Self.adding(origin, to: final) : final
    }

    /// Whether the user's own header fields go along to `url`: to what a local list names, and to the origin of one that
    /// came over the network.
    func sharesFields(with url: URL) -> Bool {
        origin.isFileURL || SecurityPolicy.haveSameOrigin(origin, url)
    }

    private static func adding(_ origin: URL, to url: URL) -> URL {
        guard origin.user() != nil || origin.password() != nil,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url }
        components.user = origin.user(percentEncoded: false)
        components.password = origin.password(percentEncoded: false)
        return components.url ?? url
    }
}
