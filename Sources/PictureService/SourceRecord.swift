package import HTTPSemantics
package import ImageCodecs
package import LazyImages

/// What is known of a source without its bytes: which content it has, and for how long that holds. It leads from an address to
/// the derivatives, whose keys name the content. So a source that has changed never answers with an old size, one that has not
/// keeps them all, and a purge removes one record.
///
///     marquee source 2
///     content 2cf24dba…64 digits
///     file 42250 jpeg 500 750
///     answer 1790000000 1 600
///     cache-control: max-age=600
///     end
///
/// `answer` has the second since 1970 when the answer came, how old it was then and how long it is fresh, in seconds; the
/// origin's Cache-Control follows.
package struct SourceRecord: Hashable, Sendable {
    /// The SHA-256 of the source's bytes: 64 hexadecimal digits in lower case.
    package let content: String
    /// Of the source's file.
    package let byteCount: Int
    package let format: ImageFormat
    package let size: ImageSize
    /// The values of the origin's Cache-Control.
    package let control: [String]
    /// When the answer came, in seconds since 1970.
    package let received: Int
    /// How old it was then, in seconds.
    package let initialAge: Int
    /// How long it is fresh from when the origin made it, in seconds.
    package let lifetime: Int
    /// Whether it may be kept for other clients. What is stored may.
    package let mayBeKept: Bool

    package init(
        content: String, byteCount: Int, format: ImageFormat, size: ImageSize, control: [String],
        received: Int, initialAge: Int, lifetime: Int, mayBeKept: Bool = true
    ) {
        self.content = content
        self.byteCount = byteCount
        self.format = format
        self.size = size
        self.control = control
        self.received = received
        self.initialAge = initialAge
        self.lifetime = lifetime
        self.mayBeKept = mayBeKept
    }

    /// What a picture of this content is kept under.
    package func key(_ recipe: PictureRecipe) -> SHA256.Digest { Picture.key(recipe, ofContent: content) }
}

extension SourceRecord {
    /// How old it is, in seconds.
    package func age(now: Int) -> Int { Freshness.age(initial: initialAge, received: received, now: now) }

    /// What may be done with pictures of it. Clients have no say in that: they may not make a shared service fetch.
    package func use(now: Int) -> CacheUse {
        CacheUse(
            age: age(now: now), lifetime: lifetime, control: directives,
            directives: CacheControl(HTTPFields()))
    }

    /// Whether pictures of it may be sent although it is stale, because the origin fails or the service is full.
    package func allowsStale(now: Int) -> Bool {
        CacheUse.allowsStaleOnError(
            age: age(now: now), lifetime: lifetime, control: directives,
            directives: CacheControl(HTTPFields()))
    }

    /// Whether pictures of it may never be used stale, by any cache.
    package var mustRevalidate: Bool { directives.mustRevalidate || directives.noCache }

    /// The directives, as a shared cache obeys them.
    private var directives: CacheControl {
        var fields = HTTPFields()
        for value in control { fields.append(HTTPFields.Field(name: "Cache-Control", value: value)) }
        return CacheKind.shared.control(fields)
    }
}
