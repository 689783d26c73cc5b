package import HTTPSemantics
package import ImageCodecs
package import LazyImages
package import PictureService

/// The facts about a source without its bytes: the hash of its content, and how long it is fresh. It leads from an
/// address to the derivatives, whose keys name the content. So a changed source never gives an old picture, an
/// unchanged source keeps all its pictures, and a purge removes only the record.
///
///     marquee source 2
///     content 2cf24dba…64 digits
///     file 42250 jpeg 500 750
///     answer 1790000000 1 600
///     cache-control: max-age=600
///     end
///
/// The line `answer` has the time when the answer came in seconds since 1970, its age at that time, and its freshness
/// lifetime, both in seconds. The lines of the origin's Cache-Control follow.
package struct SourceRecord: Hashable, Sendable {
    /// The SHA-256 of the source's bytes: 64 hexadecimal digits in lower case.
    package let content: String
    /// The size of the source's file.
    package let byteCount: Int
    package let format: ImageFormat
    package let size: ImageSize
    /// The values of the origin's Cache-Control.
    package let control: [String]
    /// When the answer came, in seconds since 1970.
    package let received: Int
    /// The answer's age at that time, in seconds.
    package let initialAge: Int
    /// The freshness lifetime, counted from when the origin made the answer, in seconds.
    package let lifetime: Int
    /// Whether a shared cache may store it. True for stored records.
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

    /// The key that a picture of this content is stored under.
    package func key(_ recipe: PictureRecipe) -> SHA256.Digest { Picture.key(recipe, ofContent: content) }
}

extension SourceRecord {
    /// The present age in seconds.
    package func age(now: Int) -> Int { Freshness.age(initial: initialAge, received: received, now: now) }

    /// How pictures of it may be used. Clients cannot change that: they must not make a shared service fetch.
    package func use(now: Int) -> CacheUse {
        CacheUse(
            age: age(now: now), lifetime: lifetime, control: directives,
            directives: CacheControl(HeaderFields()))
    }

    /// Whether its pictures may be sent stale, because the origin fails or the service is busy.
    package func allowsStale(now: Int) -> Bool {
        CacheUse.allowsStaleOnError(
            age: age(now: now), lifetime: lifetime, control: directives,
            directives: CacheControl(HeaderFields()))
    }

    /// Whether no cache may ever use its pictures stale.
    package var mustRevalidate: Bool { directives.mustRevalidate || directives.noCache }

    /// The directives that apply to a shared cache.
    private var directives: CacheControl {
        var fields = HeaderFields()
        for value in control { fields.append(HeaderFields.Field(name: "Cache-Control", value: value)) }
        return CacheKind.shared.control(fields)
    }
}
