package import FoundationEssentials

/// The base URL of a list's relative addresses (RFC 3986 section 5.1). Its server also gets the user's own header
/// fields.
package struct BaseURL: Sendable {
    package let url: URL
    /// The URL that the user named. A redirect may lead from here to `url`, but gives `url` no credentials.
    let origin: URL

    /// A base URL without redirects.
    package init(_ url: URL) {
        self.url = url
        origin = url
    }

    /// The base URL of a list that the user named as `origin` and a redirect moved to `final` (RFC 3986 section 5.1.3).
    package init(origin: URL, redirectedTo final: URL) {
        self.origin = origin
        // Credentials in the user's address are for its whole origin.
        url = SecurityPolicy.haveSameOrigin(origin, final) ? Self.adding(origin, to: final) : final
    }

    /// The URL that an address of the list means.
    /// - Throws: also for a file of this machine in a list from the network: no stranger chooses which files are shown,
    ///   imported and served.
    package func resolve(_ address: String) throws(ImageLoadingError) -> URL {
        let resolved = try URL(typed: address, relativeTo: url).absoluteURL
        guard resolved.scheme?.lowercased() != "file" || origin.isFileURL else {
            throw .invalidURL(
                text: resolved.displayText,
                reason: "a list from the network cannot name a file of this machine")
        }
        return resolved
    }

    /// An address of the list as others may read it, who do not know the list: whole, and without credentials that are not
    /// written in it. Nil for what the list cannot name. An address of a scheme that nothing here reads stays as it is.
    package func whole(_ address: String) -> String? {
        do throws(ImageLoadingError) {
            let resolved = try resolve(address)
            // Ignored: what is not whole by itself has the credentials of the list.
            let isWhole = (try? URL(typed: address)) != nil
            return (isWhole ? resolved : resolved.with(user: nil, password: nil)).absoluteString
        } catch .unsupportedScheme {
            return address
        } catch {
            return nil
        }
    }

    /// Whether the user's own header fields are sent to `url`. A local list sends them to all its addresses; a list
    /// from the network sends them to its own origin only.
    package func sharesFields(with url: URL) -> Bool {
        origin.isFileURL || SecurityPolicy.haveSameOrigin(origin, url)
    }

    private static func adding(_ origin: URL, to url: URL) -> URL {
        guard origin.user() != nil || origin.password() != nil else { return url }
        return url.with(
            user: origin.user(percentEncoded: false), password: origin.password(percentEncoded: false))
    }
}

extension URL {
    fileprivate func with(user: String?, password: String?) -> URL {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.user = user
        components?.password = password
        return components?.url ?? self
    }
}
