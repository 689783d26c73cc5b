package import HTTPSemantics
package import ImageCodecs
package import LazyImages

/// What is known of a source without its bytes: which content it has, and for how long that holds. It leads from an address to
/// the derivatives, whose keys name the content. So a source that has changed never answers with an old size, one that has not
/// keeps them all, and a purge removes one record.
///
///     marquee source 1
///     content 2cf24dba…64 digits
///     file 42250 jpeg 500 750
///     answer 1790000000 1
///     cache-control: max-age=600
///     etag: "a"
///     end
///
/// `answer` has the second since 1970 when the answer came and how many it took; the origin's fields follow as they came, those
/// that say how long the answer holds and by what it is validated.
package struct SourceRecord: Hashable, Sendable {
    /// The SHA-256 of the source's bytes: 64 hexadecimal digits in lower case.
    package let content: String
    /// Of the source's file.
    package let byteCount: Int
    package let format: ImageFormat
    package let size: ImageSize
    /// The origin's fields, of those that matter.
    package let fields: HTTPFields
    /// When the answer came, in seconds since 1970, and how long it took.
    package let received: Int
    package let delay: Int

    /// The names of the fields that are kept, lower case.
    static let keptFields: Set<String> = [
        "age", "cache-control", "date", "etag", "expires", "last-modified",
    ]

    /// - Parameters:
    ///   - fields: all of the answer's; those that matter are kept.
    package init(
        content: String, byteCount: Int, format: ImageFormat, size: ImageSize, fields: HTTPFields,
        received: Int, delay: Int
    ) {
        self.content = content
        self.byteCount = byteCount
        self.format = format
        self.size = size
        var kept = HTTPFields()
        for field in fields.fields where Self.keptFields.contains(field.name.lowercased()) {
            kept.append(HTTPFields.Field(name: field.name.lowercased(), value: field.value))
        }
        self.fields = kept
        self.received = received
        self.delay = delay
    }

    /// What a picture of this content is kept under.
    package func key(_ recipe: PictureRecipe) -> SHA256.Digest { Picture.key(recipe, ofContent: content) }

    /// The same content, confirmed by a 304 with these fields, which take the place of the old ones (RFC 9111 section 4.3.4).
    package func confirmed(by update: HTTPFields, received: Int, delay: Int) -> SourceRecord {
        let names = Set(update.fields.map { $0.name.lowercased() })
        var merged = HTTPFields()
        // Age and Date are of the one answer that they came with.
        for field in fields.fields
        where !names.contains(field.name) && field.name != "age" && field.name != "date" {
            merged.append(field)
        }
        for field in update.fields { merged.append(field) }
        return SourceRecord(
            content: content, byteCount: byteCount, format: format, size: size, fields: merged,
            received: received, delay: delay)
    }
}

extension SourceRecord {
    /// The directives, as a shared cache obeys them.
    package var control: CacheControl { SharedCache.control(fields) }

    /// How long it is fresh, in seconds from when the origin made it.
    package var lifetime: Int { freshness.lifetime }

    /// How old it is, in seconds.
    package func age(now: Int) -> Int {
        Freshness.age(initial: freshness.initialAge, received: received, now: now)
    }

    /// What may be done with pictures of it.
    /// - Parameter directives: the request's. Default: none, since clients may not make a shared service fetch.
    package func use(now: Int, directives: CacheControl = CacheControl(HTTPFields())) -> CacheUse {
        CacheUse(age: age(now: now), lifetime: lifetime, control: control, directives: directives)
    }

    /// Whether pictures of it may be sent although it is stale, because the origin fails or the service is full.
    package func allowsStale(now: Int) -> Bool {
        CacheUse.allowsStaleOnError(
            age: age(now: now), lifetime: lifetime, control: control, directives: CacheControl(HTTPFields()))
    }

    /// The fields that ask the origin for the source only if it has changed; none where it has no validator.
    package var conditions: HTTPFields { Validators(fields)?.conditions ?? HTTPFields() }

    private var freshness: Freshness {
        Freshness(ResponseHead(status: 200, fields: fields), control, received: received, delay: delay)
    }
}
