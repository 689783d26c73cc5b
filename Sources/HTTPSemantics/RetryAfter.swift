/// How long a server asks to be left alone: `Retry-After: 120`, or a date (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// Seconds from `now`, not negative; nil if the answer says nothing that can be read.
    package static func seconds(_ fields: HTTPFields, now: Int) -> Int? {
        guard let value = fields["retry-after"] else { return nil }
        let text = FieldList.trimmed(value[...])
        if let seconds = CacheControl.seconds(text) { return seconds }
        return HTTPDate.parse(value, now: now).map { min(max(0, $0 - now), CacheControl.maximumSeconds) }
    }
}
