import HTTPSemantics

/// The file that a request's target names, as plain names below the folder.
///
/// Decoded exactly once. A name that could lead out of the folder, or that systems understand differently, is refused
/// and never repaired.
struct RequestPath: Hashable, Sendable {
    /// The bytes of each name; empty for the folder itself.
    let names: [[UInt8]]

    enum Refusal: Error, Hashable {
        /// Not a path: bad encoding, NUL, `..`, a backslash, a slash within a name.
        case malformed
        /// A path that names no served file: a hidden file, a folder, an empty name.
        case notServed
    }

    /// The most names of a path. Catalogues have fewer; each level costs a system call.
    private static let maximumDepth = 16

    /// Reads a target in origin form (`/posters/a.jpg?x=1`) or absolute form (`http://host/posters/a.jpg`), RFC 9112
    /// section 3.2. The query is ignored.
    init(target: String) throws(Refusal) {
        var path = Array(target.utf8)[...]
        if path.first != UInt8(ascii: "/") {
            let lowered = target.lowercased()
            guard lowered.hasPrefix("http://") || lowered.hasPrefix("https://"),
                let scheme = path.firstIndex(of: UInt8(ascii: ":"))
            else { throw .malformed }
            let authority = path[(scheme + 3)...]
            path =
                authority[
                    (authority.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                        ?? authority.endIndex)...]
        }
        if let query = path.firstIndex(of: UInt8(ascii: "?")) { path = path[..<query] }
        guard !path.contains(UInt8(ascii: "#")) else { throw .malformed }
        let pieces = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard pieces != [[]], !pieces.isEmpty else {
            names = []
            return
        }
        var names: [[UInt8]] = []
        for piece in pieces { names.append(try Self.decoded(piece)) }
        guard names.count <= Self.maximumDepth,
            names.allSatisfy({ !$0.isEmpty && $0.first != UInt8(ascii: ".") })
        else { throw .notServed }
        self.names = names
    }

    /// A file directly in the folder.
    init(_ name: String) { names = [Array(name.utf8)] }

    private static func decoded(_ piece: ArraySlice<UInt8>) throws(Refusal) -> [UInt8] {
        guard let name = PercentEncoding.decoded(piece) else { throw .malformed }
        let forbidden: [UInt8] = [0, UInt8(ascii: "/"), UInt8(ascii: "\\")]
        guard name != Array("..".utf8), !name.contains(where: forbidden.contains) else { throw .malformed }
        return name
    }
}
