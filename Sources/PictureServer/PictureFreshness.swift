import HTTPSemantics
import LazyImages

/// The freshness that the service gives its own answers.
enum PictureFreshness {
    /// The lifetime of an immutable picture, in seconds: a year, the most that caches were ever asked for (RFC 2616
    /// section 14.21).
    private static let immutableLifetime = 31_536_000
    /// How long a failure of the source itself holds, in seconds: the source is missing, or not a picture.
    static let failureLifetime = 60

    /// The Cache-Control of a picture. Its max-age is the rest of the source's freshness, so the answer needs no Age. No
    /// picture outlives its address. A picture that only the requesting client may see must not be stored.
    /// - Parameter now: seconds since 1970.
    static func control(of address: KnownAddress, _ served: ServedPicture, now: Int) -> String {
        let record = served.record
        guard record.mayBeKept else { return "no-store" }
        // A damaged source may be healed.
        let isImmutable = address.isImmutable && record.damage == nil && served.picture.damage == nil
        let expiry = address.recipe.expiry
        if let own = address.original.own, !isImmutable {
            // The record never becomes stale, but the next poster has another one.
            return expiry == nil ? own.cacheControl : "no-cache"
        }
        let remaining = isImmutable ? immutableLifetime : max(0, record.secondsLeft(now: now) ?? 0)
        let seconds = expiry.map { min(remaining, max(0, $0 - now)) } ?? remaining
        return "public, max-age=\(seconds)"
            + (isImmutable
                ? ", immutable" : served.name.mustRevalidate ? ", must-revalidate" : "")
    }

    /// The Cache-Control of an answer without a picture.
    static func control(ofFailure status: HTTPStatus) -> String {
        [404, 410, 422].contains(status.rawValue) ? "public, max-age=\(failureLifetime)" : "no-store"
    }
}
