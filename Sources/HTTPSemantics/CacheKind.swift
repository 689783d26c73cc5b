/// Whose requests a cache answers (RFC 9111 section 1).
///
/// The rules for a shared cache are put in terms of those for a private one: an answer's directives are read so that
/// `Freshness`, `CacheUse` and `Storability` come to what a shared cache has to do.
public enum CacheKind: Sendable, Hashable {
    /// One user's. What is meant for this user alone may be kept.
    case `private`
    /// Everybody's: what one client may see is handed to all.
    case shared
}

extension CacheKind {
    /// The directives of an answer as this cache obeys them. A shared one takes s-maxage in the place of max-age (section
    /// 5.2.2.10), and both it and proxy-revalidate as must-revalidate (sections 5.2.2.8 and 5.2.2.10).
    package func control(_ fields: HTTPFields) -> CacheControl {
        var control = CacheControl(fields)
        guard self == .shared else { return control }
        let shared = Self.directives(fields)
        if shared.hasMaxAge {
            // A number that is none makes the answer stale, as for max-age.
            control.maxAge = shared.maxAge ?? 0
            control.mustRevalidate = true
        }
        if shared.revalidates { control.mustRevalidate = true }
        // It is the private cache that it lets store.
        control.isPrivate = false
        return control
    }

    /// Whether an answer may be stored (section 3).
    /// - Parameters:
    ///   - isAuthorised: whether the request had Authorization: then a shared cache stores only what says so (section 3.5).
    ///   - directives: the request's own Cache-Control.
    ///   - isWhole: whether the request asked for all of it.
    package func allows(
        _ head: ResponseHead, isAuthorised: Bool = false,
        directives: CacheControl = CacheControl(HTTPFields()), isWhole: Bool = true
    ) -> Bool {
        guard self == .shared else {
            return Storability.allows(head, directives: directives, isWhole: isWhole)
        }
        let own = CacheControl(head.fields)
        let shared = Self.directives(head.fields)
        // Section 5.2.2.7 lets an answer be stored without the fields that private names. It is not worth telling apart.
        guard !shared.isPrivate else { return false }
        if isAuthorised, !(own.mustRevalidate || own.isPublic || shared.hasMaxAge) { return false }
        return Storability.allows(head, directives: directives, isWhole: isWhole)
            || shared.hasMaxAge
                && Storability.allows(Self.withMaxAge(head), directives: directives, isWhole: isWhole)
    }

    /// Section 3 counts s-maxage like max-age as permission to store.
    private static func withMaxAge(_ head: ResponseHead) -> ResponseHead {
        var fields = head.fields
        fields.append(HTTPFields.Field(name: "Cache-Control", value: "max-age=0"))
        return ResponseHead(status: head.status, fields: fields)
    }

    private struct Directives {
        var isPrivate = false
        var hasMaxAge = false
        var maxAge: Int?
        var revalidates = false
    }

    private static func directives(_ fields: HTTPFields) -> Directives {
        var directives = Directives()
        for member in FieldList.members(of: fields.values(of: "cache-control")) {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch parts[0].lowercased() {
            case "private": directives.isPrivate = true
            case "proxy-revalidate": directives.revalidates = true
            case "s-maxage" where !directives.hasMaxAge:
                directives.hasMaxAge = true
                directives.maxAge = parts.count > 1 ? CacheControl.seconds(parts[1]) : nil
            default: break
            }
        }
        return directives
    }
}
