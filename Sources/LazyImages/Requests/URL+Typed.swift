package import FoundationEssentials
import HTTPSemantics

extension URL {
    /// The schemes whose URLs Marquee reads.
    package static let readableSchemes: Set<String> = ["https", "http", "file", "data"]

    /// Reads a URL as a person types it. Percent-encodes characters that a URL must not contain (`El Camión.jpg`),
    /// keeps what is already encoded (`El%20Cami%C3%B3n.jpg`), and drops white space around the text. Resolves a
    /// relative URL against `base`.
    /// - Throws: `.invalidURL` for text that is not a URL, or is relative without a base; `.unsupportedScheme` for a
    ///   scheme other than https, http, file and data.
    package init(typed text: String, relativeTo base: URL? = nil) throws(ImageLoadingError) {
        if CanonicalURL.isPlain(text), let url = URL(string: text) {
            self = url
            return
        }
        var reference = Self.percentEncoded(text)
        guard !reference.isEmpty else { throw .invalidURL(text: text, reason: "it is empty") }
        if base != nil, Self.isNameWithColon(reference) { reference = "./" + reference }
        guard let url = URL(string: reference, relativeTo: base)?.absoluteURL,
            let scheme = url.scheme?.lowercased()
        else {
            throw .invalidURL(
                text: text,
                reason: base == nil && Self.scheme(of: reference) == nil ? "it has no scheme" : "malformed")
        }
        guard Self.readableSchemes.contains(scheme) else {
            throw .unsupportedScheme(url: url.displayText, scheme: scheme)
        }
        if scheme.hasPrefix("http"), url.host()?.isEmpty ?? true {
            throw .invalidURL(text: text, reason: "it names no host")
        }
        if let port = url.port, !(1...65_535).contains(port) {
            throw .invalidURL(text: text, reason: "\(port) is not a port; use 1 to 65535")
        }
        self = url
    }

    /// The URL for messages, logs and files: without user name and password, and only the beginning of a `data:` URL.
    package var displayText: String {
        let text = absoluteString
        if scheme?.lowercased() == "data" { return text.count <= 64 ? text : text.prefix(61) + "..." }
        guard user() != nil || password() != nil, let authority = text.firstRange(of: "//") else {
            return text
        }
        let end = text[authority.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        guard let at = text[authority.upperBound..<end].lastIndex(of: "@") else { return text }
        return String(text[..<authority.upperBound] + text[text.index(after: at)...])
    }

    /// Whether the colon in the first segment belongs to a file name and does not end a scheme: "Mission:
    /// Impossible.jpg", "2001: A Space Odyssey.jpg" (RFC 3986 section 4.2).
    private static func isNameWithColon(_ reference: String) -> Bool {
        guard reference.prefix(while: { !"/?#".contains($0) }).contains(":") else { return false }
        guard let scheme = scheme(of: reference) else { return true }
        return !readableSchemes.contains(scheme.lowercased())
            && !reference.dropFirst(scheme.count + 1).hasPrefix("//")
    }

    /// The text before the first colon, if it can be a scheme (RFC 3986 section 3.1).
    static func scheme(of text: String) -> Substring? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let candidate = text[..<colon]
        let isScheme =
            candidate.first.map { $0.isASCII && $0.isLetter } == true
            && candidate.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return isScheme ? candidate : nil
    }

    /// Percent-encodes every byte that is not allowed at its place (RFC 3986 appendix A): bytes above ASCII, control
    /// characters, spaces, `"<>\^{|}` and the grave accent; a `%` that begins no escape; square brackets outside the
    /// host; and every `#` after the first.
    package static func percentEncoded(_ typed: String) -> String {
        let text = Array(typed.utf8.drop { $0 <= 0x20 })
        let end = text.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? 0
        var encoded: [UInt8] = []
        encoded.reserveCapacity(2 * end)
        var slashes = 0
        var isInHost = false
        var hasFragment = false
        for index in 0..<end {
            let byte = text[index]
            var isAllowed = byte > 0x20 && byte < 0x7F
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
                UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
                isAllowed = false
            case UInt8(ascii: "%"):
                isAllowed =
                    index + 2 < end && text[index + 1].hexadecimalValue != nil
                    && text[index + 2].hexadecimalValue != nil
            case UInt8(ascii: "/"):
                slashes += 1
                isInHost = slashes == 2 && index > 0 && text[index - 1] == byte
            case UInt8(ascii: "?"): isInHost = false
            case UInt8(ascii: "#"):
                isInHost = false
                isAllowed = !hasFragment
                hasFragment = true
            case UInt8(ascii: "["), UInt8(ascii: "]"): isAllowed = isInHost
            default: break
            }
            if isAllowed { encoded.append(byte) } else { PercentEncoding.append(byte, to: &encoded) }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension URL {
    /// The host in lower case; empty without a host.
    package var lowercasedHost: String { (host() ?? "").lowercased() }

    /// Whether it is a `file:` or `data:` URL, which needs no transfer.
    package var isLocal: Bool { ["file", "data"].contains(scheme?.lowercased()) }
}

extension WebOrigin {
    /// Scheme, host and port of a URL (RFC 6454 section 4), parsed once: Foundation parses at every access. Scheme and
    /// host are empty if the URL has none.
    init(_ url: URL) {
        self.init(
            scheme: url.scheme?.lowercased() ?? "", HostAndPort(host: url.lowercasedHost, port: url.port))
    }

    /// Host and port as one text, by which connections are counted.
    package var hostAndPort: String { "\(host):\(port)" }
}
