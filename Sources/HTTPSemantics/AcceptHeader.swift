/// What media types a client takes, and how much it likes them (RFC 9110 section 12.5.1):
///
///     Accept: application/xml;q=0.9, application/json, */*;q=0.1
package struct AcceptHeader: Sendable {
    private struct Range {
        /// `*` for any.
        let type, subtype: Substring
        /// Parameters other than q: such a range names a variant of a type.
        let hasParameters: Bool
        /// 0 to 1000.
        let quality: Int

        /// The more a range says, the more it counts (RFC 9110 section 12.5.1).
        var precision: Int { type == "*" ? 0 : subtype == "*" ? 1 : 2 }

        func includes(_ type: Substring, _ subtype: Substring) -> Bool {
            (self.type == "*" || self.type == type) && (self.subtype == "*" || self.subtype == subtype)
        }
    }

    private let ranges: [Range]
    /// Whether the client says nothing and so takes all. A field without anything in it says nothing either.
    private let takesAll: Bool

    package init(_ fields: HTTPFields) {
        let members = FieldList.members(of: fields.values(of: "accept").map { $0.lowercased() })
        takesAll = members.isEmpty
        ranges = members.compactMap(Self.range)
    }

    /// How much a media type is liked: 0, not at all, to 1000.
    package func quality(of mediaType: String) -> Int {
        if takesAll { return 1000 }
        let sides = mediaType.split(separator: "/", maxSplits: 1)
        guard sides.count == 2 else { return 0 }
        // A range with parameters asks for a variant: it counts where no range names the type alone.
        return ranges.filter { $0.includes(sides[0], sides[1]) }
            .max { ($0.precision, $0.hasParameters ? 0 : 1) < ($1.precision, $1.hasParameters ? 0 : 1) }?
            .quality ?? 0
    }

    /// The one of `offers` that is liked best, the first of equals; nil where none is accepted.
    /// - Parameter mediaTypes: all names that an offer goes by. The one that is liked best counts.
    package func preferred<Offer>(_ offers: [Offer], _ mediaTypes: (Offer) -> [String]) -> Offer? {
        var best: (offer: Offer, quality: Int)?
        for offer in offers {
            let quality = mediaTypes(offer).map(quality(of:)).max() ?? 0
            if quality > best?.quality ?? 0 { best = (offer, quality) }
        }
        return best?.offer
    }

    /// One member; nil for what is malformed, which says nothing.
    private static func range(_ member: Substring) -> Range? {
        var pieces = ParameterList.pieces(of: String(member))[...]
        guard let name = pieces.popFirst() else { return nil }
        // Some old clients send a lone star for all.
        let sides = name == "*" ? ["*", "*"] : name.split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isTokenCharacter) }),
            sides[0] != "*" || sides[1] == "*", let parameters = ParameterList.parameters(pieces)
        else { return nil }
        guard let quality = parameters["q"].map(Self.quality) ?? 1000 else { return nil }
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
