package import FoundationEssentials
package import HTTPSemantics
import LazyImages

/// The absolute address of a picture's source.
package struct PictureSource: Hashable, Sendable {
    /// The text as written, since this text is signed.
    package let text: String
    package let url: URL
    /// In lower case.
    package let scheme: String
    /// The host and port to connect to; nil for another scheme, or for an address with user information.
    package let origin: WebOrigin?

    /// Reads an address. `PictureRules` decides whether it may be fetched.
    /// - Throws: `.malformedAddress` if the text is not an absolute address, or has characters that must be
    ///   percent-encoded.
    package init(_ text: String) throws(PictureRefusal) {
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
        // Both parsers must find the same host and port: one result is checked, and the other is connected to.
        let host = url.lowercasedHost.filter { $0 != "[" && $0 != "]" }
        guard host == origin.host || host == origin.host + ".", (1...65_535).contains(origin.port),
            (url.port ?? origin.port) == origin.port
        else { throw .malformedAddress }
        self.origin = origin
    }
}
