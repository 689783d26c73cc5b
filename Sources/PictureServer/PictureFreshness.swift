package import HTTPSemantics
package import PictureService

/// The freshness that the service gives its own answers.
package enum PictureFreshness {
    /// The lifetime of a picture with a tag, in seconds: a year, the most that caches were ever asked for (RFC 2616
    /// section 14.21).
    static let taggedLifetime = 31_536_000
    /// How long a failure of the source itself holds, in seconds: the source is missing, or not a picture.
    static let failureLifetime = 60

    /// The Cache-Control of a picture. Its max-age is the rest of the source's freshness, so the answer needs no Age. A
    /// picture with a tag never changes. No picture outlives its address. A picture that only the requesting client may
    /// see must not be stored.
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
