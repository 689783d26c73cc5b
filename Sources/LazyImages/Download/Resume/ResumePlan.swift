/// How a transfer resumes a partial body: the request, and the meaning of the answer.
struct ResumePlan: Hashable, Sendable {
    /// The length of the partial body in bytes.
    let offset: Int
    /// The length of the whole body; nil if unknown.
    let total: Int?
    /// A strong entity tag, or a Last-Modified date that is as good: proves that the rest belongs to the same file.
    let validator: String

    /// What an answer means for the partial body.
    enum Verdict: Hashable, Sendable {
        /// The answer has the rest.
        case resumes
        /// The answer has the whole body, which replaces the partial one.
        case restarts
        /// The partial body cannot be resumed: remove it, and request the whole body.
        case cannotResume
        /// The answer, such as a redirect, does not concern the partial body.
        case isUnrelated
    }

    /// The fields that request the rest, or the whole body if the file has changed (RFC 9110 sections 14.2, 13.1.5).
    var fields: HeaderFields { ["Range": "bytes=\(offset)-", "If-Range": validator] }

    /// A 206 is accepted only if it starts at the offset, agrees on the length, goes to the end, and has the same
    /// validator.
    func verdict(on head: ResponseHead) -> Verdict {
        switch head.status {
        case 200: return .restarts
        case 416: return .cannotResume
        case 206:
            guard let range = head.fields["content-range"].flatMap(ContentRange.init), let part = range.part,
                part.lowerBound == offset,
                total == nil || range.total == nil || range.total == total,
                (range.total ?? total).map({ part.upperBound == $0 }) ?? true,
                head.fields["etag"].map({ $0 == validator || !validator.hasPrefix("\"") }) ?? true
            else { return .cannotResume }
            return .resumes
        default: return .isUnrelated
        }
    }
}

extension ResumePlan {
    /// A plan for `part`; nil without a strong validator.
    init?(_ part: PartialFile) {
        guard let validator = Validators.strong(part.response.fields, now: part.response.received) else {
            return nil
        }
        self.init(offset: part.count, total: part.total, validator: validator)
    }
}
