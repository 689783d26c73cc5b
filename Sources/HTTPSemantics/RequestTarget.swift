/// The parsed target of a request (RFC 9112 section 3.2). Each part is percent-decoded exactly once.
///
///     /films/El%20Cami%C3%B3n?limit=20        origin form
///     http://nas:8080/films                   absolute form
///     *                                       OPTIONS of the whole server
package struct RequestTarget: Sendable, Hashable {
    /// Host and port of the absolute form, as written. They override Host (RFC 9112 section 3.2.2).
    package let authority: String?
    /// The path as it was sent. Begins with a slash, or is empty.
    package let path: ArraySlice<UInt8>
    /// The decoded segments of the path: one empty segment for `/`, none for `*`.
    package let segments: [String]
    package let query: FormFields

    package enum Failure: Error, Hashable, Sendable {
        /// Not a target for a server: another scheme, a fragment, or user information.
        case malformed
        /// A percent sign without two hexadecimal digits, invalid UTF-8, or a NUL or slash in a segment.
        case badEncoding
    }

    /// - Parameter allowsBytes: whether path and query need not be text. They then have no segments and no fields. Default:
    ///   no.
    package init(_ target: String, allowsBytes: Bool = false) throws(Failure) {
        let parts = try Parts(target)
        (authority, path) = (parts.authority, parts.path)
        let decoded: (segments: [String], query: FormFields)
        do throws(Failure) {
            decoded = try (target == "*" ? [] : Self.segments(parts.path), Self.query(parts.query))
        } catch {
            guard allowsBytes else { throw error }
            decoded = ([], FormFields())
        }
        (segments, query) = decoded
    }

    private static func query(_ text: ArraySlice<UInt8>) throws(Failure) -> FormFields {
        // Ignored: which field is wrong. The target is refused as a whole.
        do { return try FormFields(parsing: text) } catch { throw .badEncoding }
    }

    /// The parts of a target, not decoded.
    package struct Parts {
        /// Host and port of the absolute form.
        package let authority: String?
        /// Begins with a slash, or is empty.
        package let path: ArraySlice<UInt8>
        package let query: ArraySlice<UInt8>

        package init(_ target: String) throws(Failure) {
            guard target != "*" else {
                (authority, path, query) = (nil, [], [])
                return
            }
            let bytes = Array(target.utf8)
            guard !bytes.contains(UInt8(ascii: "#")) else { throw .malformed }
            var rest = bytes[...]
            var authority: String?
            if rest.first != UInt8(ascii: "/") {
                let lowered = target.prefix(8).lowercased()
                guard let scheme = ["http://", "https://"].first(where: lowered.hasPrefix) else {
                    throw .malformed
                }
                rest = rest.dropFirst(scheme.utf8.count)
                let end =
                    rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
                guard end > rest.startIndex, !rest[..<end].contains(UInt8(ascii: "@")) else {
                    throw .malformed
                }
                authority = String(decoding: rest[..<end], as: UTF8.self)
                rest = rest[end...]
            }
            let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
            self.authority = authority
            path = rest[..<mark]
            query = rest[mark...].dropFirst()
        }
    }

    private static func segments(_ path: ArraySlice<UInt8>) throws(Failure) -> [String] {
        var segments: [String] = []
        for piece in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            // Refused because readers interpret an encoded slash or NUL differently.
            guard let text = PercentEncoding.decodedText(piece), !text.utf8.contains(0),
                !text.utf8.contains(UInt8(ascii: "/"))
            else { throw .badEncoding }
            segments.append(text)
        }
        return segments
    }
}
