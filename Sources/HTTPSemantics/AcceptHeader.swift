/// The media types that a client accepts, and their quality values (RFC 9110 section 12.5.1):
///
///     Accept: application/xml;q=0.9, application/json, */*;q=0.1
package struct AcceptHeader: Sendable {
    private struct Range {
        /// `*` for any.
        let type, subtype: Substring
        /// Parameters other than q: the range names a variant of a type.
        let hasParameters: Bool
        /// 0 to 1000.
        let quality: Int

        /// The most specific range has precedence (RFC 9110 section 12.5.1).
        var specificity: Int { type == "*" ? 0 : subtype == "*" ? 1 : 2 }

        func includes(_ type: Substring, _ subtype: Substring) -> Bool {
            (self.type == "*" || self.type == type) && (self.subtype == "*" || self.subtype == subtype)
        }
    }

    private let ranges: [Range]
    /// Whether there is no Accept field, or an empty one: the client accepts all types.
    private let acceptsAll: Bool

    package init(_ fields: HeaderFields) {
        let members = FieldList.members(of: fields.values(of: "accept").map { $0.lowercased() })
        acceptsAll = members.isEmpty
        ranges = members.compactMap(Self.range)
    }

    /// The quality value of a media type, from 0 (not acceptable) to 1000.
    package func quality(of mediaType: String) -> Int {
        if acceptsAll { return 1000 }
        let sides = mediaType.split(separator: "/", maxSplits: 1)
        guard sides.count == 2 else { return 0 }
        // A range with parameters names a variant. It counts only if no range names the type without parameters.
        return ranges.filter { $0.includes(sides[0], sides[1]) }
            .max { ($0.specificity, $0.hasParameters ? 0 : 1) < ($1.specificity, $1.hasParameters ? 0 : 1) }?
            .quality ?? 0
    }

    /// The offer with the highest quality value, the first among equals; nil if none is acceptable.
    /// - Parameter mediaTypes: all names of an offer. The one with the highest quality value counts.
    package func preferred<Offer>(_ offers: [Offer], _ mediaTypes: (Offer) -> [String]) -> Offer? {
        var best: (offer: Offer, quality: Int)?
        for offer in offers {
            let quality = mediaTypes(offer).map(quality(of:)).max() ?? 0
            if quality > best?.quality ?? 0 { best = (offer, quality) }
        }
        return best?.offer
    }

    /// Reads one member; nil if it is malformed. Malformed members are ignored.
    private static func range(_ member: Substring) -> Range? {
        var pieces = ParameterList.pieces(of: String(member))[...]
        guard let name = pieces.popFirst() else { return nil }
        // Some old clients send `*` for `*/*`.
        let sides = name == "*" ? ["*", "*"] : name.split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy(\.isToken), sides[0] != "*" || sides[1] == "*",
            let parameters = ParameterList.parameters(pieces),
            let quality = parameters["q"].map(Self.quality) ?? 1000
        else { return nil }
        return Range(
            type: sides[0], subtype: sides[1], hasParameters: parameters.contains { $0.key != "q" },
            quality: quality)
    }

    /// RFC 9110 section 12.4.2: `0`, `0.5`, `1.000`; at most three digits after the point.
    private static func quality(_ text: String) -> Int? {
        let sides = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides[0] == "0" || sides[0] == "1" else { return nil }
        let digits = sides.count == 2 ? sides[1] : ""
        guard digits.utf8.count <= 3, digits.utf8.allSatisfy(\.isDigit) else { return nil }
        let thousandths = Int(digits + String(repeating: "0", count: 3 - digits.utf8.count)) ?? 0
        return min(1000, (sides[0] == "1" ? 1000 : 0) + thousandths)
    }
}
