package import HTTPSemantics

/// What the service's own answers say of how long they hold.
package enum PictureFreshness {
    /// How long a picture with a tag holds, in seconds: a year, the most that caches were ever asked for (RFC 2616 section
    /// 14.21).
    static let taggedLifetime = 31_536_000
    /// How long a failure holds that is the source's own: there is none, or it is no picture. In seconds.
    static let failureLifetime = 60

    /// The Cache-Control of a picture. It holds for what is left of its source's freshness, so that it needs no Age; one with
    /// a tag never changes; none outlives its address.
    /// - Parameters:
    ///   - age: the source's, in seconds.
    ///   - lifetime: how long the source is fresh, in seconds.
    ///   - now: seconds since 1970.
    package static func control(of recipe: PictureRecipe, age: Int, lifetime: Int, now: Int) -> String {
        let remaining = recipe.tag == nil ? max(0, lifetime - age) : taggedLifetime
        let seconds = recipe.expiry.map { min(remaining, max(0, $0 - now)) } ?? remaining
        return "public, max-age=\(seconds)" + (recipe.tag == nil ? "" : ", immutable")
    }

    /// The Cache-Control of an answer without a picture.
    package static func control(ofFailure status: HTTPStatus) -> String {
        [404, 410, 422].contains(status.rawValue) ? "public, max-age=\(failureLifetime)" : "no-store"
    }
}
