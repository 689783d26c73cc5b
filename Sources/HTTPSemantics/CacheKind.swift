/// Private or shared cache (RFC 9111 section 1).
///
/// The rules of a shared cache are expressed by those of a private one: `control` and `allowsStoring` translate the
/// directives, so that `Freshness`, `CacheUse` and `Storability` give a shared cache's results.
public enum CacheKind: Sendable, Hashable {
    /// A cache of one user. It may store private responses.
    case `private`
    /// A cache of several users. It stores only what all of them may see.
    case shared
}

extension CacheKind {
    /// The directives of a response for this kind of cache. For a shared cache s-maxage overrides max-age (section
    /// 5.2.2.10), and s-maxage and proxy-revalidate imply must-revalidate (sections 5.2.2.8 and 5.2.2.10).
    package func control(_ fields: HeaderFields) -> CacheControl {
        var control = CacheControl(fields)
        guard self == .shared else { return control }
        let shared = Self.directives(fields)
        if shared.hasMaxAge {
            // A malformed number makes the response stale, as for max-age.
            control.maxAge = shared.maxAge ?? 0
            control.mustRevalidate = true
        }
        if shared.revalidates { control.mustRevalidate = true }
        // `private` permits storing only in private caches.
        control.isPrivate = false
        return control
    }

    /// Whether a response may be stored (section 3).
    /// - Parameters:
    ///   - isAuthorised: whether the request had Authorization: a shared cache then needs an explicit permission
    ///     (section 3.5).
    ///   - directives: the request's Cache-Control.
    ///   - isWhole: whether the request asked for the complete representation.
    package func allowsStoring(
        _ head: ResponseHead, isAuthorised: Bool = false,
        directives: CacheControl = CacheControl(HeaderFields()), isWhole: Bool = true
    ) -> Bool {
        guard self == .shared else {
            return Storability.allows(head, directives: directives, isWhole: isWhole)
        }
        let own = CacheControl(head.fields)
        let shared = Self.directives(head.fields)
        // Section 5.2.2.7 permits storing a response without the fields that `private` names. It is rare, so it is not
        // supported.
        guard !shared.isPrivate else { return false }
        if isAuthorised, !(own.mustRevalidate || own.isPublic || shared.hasMaxAge) { return false }
        return Storability.allows(head, directives: directives, isWhole: isWhole)
            || shared.hasMaxAge
                && Storability.allows(Self.withMaxAge(head), directives: directives, isWhole: isWhole)
    }

    /// Section 3 counts s-maxage, like max-age, as permission to store.
    private static func withMaxAge(_ head: ResponseHead) -> ResponseHead {
        var fields = head.fields
        fields.append(HeaderFields.Field(name: "Cache-Control", value: "max-age=0"))
        return ResponseHead(status: head.status, fields: fields)
    }

    private struct Directives {
        var isPrivate = false
        var hasMaxAge = false
        var maxAge: Int?
        var revalidates = false
    }

    private static func directives(_ fields: HeaderFields) -> Directives {
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
