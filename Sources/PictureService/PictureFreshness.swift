package import HTTPSemantics

/// What the service's own answers say of how long they hold.
package enum PictureFreshness {
    /// How long a picture with a tag holds, in seconds: a year, the most that caches were ever asked for (RFC 2616 section
    /// 14.21).
    static let taggedLifetime = 31_536_000
    /// How long a failure holds that is the source's own: there is none, or it is no picture. In seconds.
    static let failureLifetime = 60

    /// The Cache-Control of a picture. It holds for what is left of its source's freshness, so that it needs no Age; one with
    /// a tag never changes; none outlives its address. What only those may see who asked for it is not to be stored.
    /// - Parameter now: seconds since 1970.
    package static func control(of recipe: PictureRecipe, _ record: SourceRecord, now: Int) -> String {
        guard record.mayBeKept else { return "no-store" }
        let isTagged = recipe.tag != nil
        let remaining = isTagged ? taggedLifetime : max(0, record.lifetime - record.age(now: now))
        let seconds = recipe.expiry.map { min(remaining, max(0, $0 - now)) } ?? remaining
        return "public, max-age=\(seconds)"
            + (isTagged ? ", immutable" : record.mustRevalidate ? ", must-revalidate" : "")
    }

    /// The Cache-Control of an answer without a picture.
    package static func control(ofFailure status: HTTPStatus) -> String {
        [404, 410, 422].contains(status.rawValue) ? "public, max-age=\(failureLifetime)" : "no-store"
    }
}
