package import FoundationEssentials
package import HTTPSemantics
import LazyImages

/// The absolute address that a picture is made of.
package struct PictureSource: Hashable, Sendable {
    /// As it came: it is what is signed.
    package let text: String
    package let url: URL
    /// In lower case.
    package let scheme: String
    /// What is connected to; nil where that is no host alone: another scheme, or user information.
    package let origin: WebOrigin?

    /// Reads an address. Whether it may be fetched is for `PictureRules` to say.
    /// - Throws: `.malformedAddress` for what is no absolute address, or holds what has to be percent-encoded.
    package init(_ text: String) throws(PictureError) {
        let forbidden = "\"<>\\^`{|}"
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !forbidden.utf8.contains($0) }),
            let url = URL(string: text), let scheme = url.scheme?.lowercased()
        else { throw .malformedAddress }
        self.text = text
        self.url = url
        self.scheme = scheme
        guard ["https", "http"].contains(scheme), url.user() == nil, url.password() == nil else {
            origin = nil
            return
        }
        guard let origin = WebOrigin(text) else { throw .malformedAddress }
        // Two readers have to find the same host and port: what one of them judges the other connects to.
        let host = url.lowercasedHost.filter { $0 != "[" && $0 != "]" }
        guard host == origin.host || host == origin.host + ".", (1...65_535).contains(origin.port),
            (url.port ?? origin.port) == origin.port
        else { throw .malformedAddress }
        self.origin = origin
    }
}
