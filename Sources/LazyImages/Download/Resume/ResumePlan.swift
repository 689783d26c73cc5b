/// How a transfer that broke goes on: what to ask for, and what the answer means.
struct ResumePlan: Hashable, Sendable {
    /// How many bytes are there.
    let offset: Int
    /// The length of the whole, if the first answer told it.
    let total: Int?
    /// What tells that the rest belongs to the same whole: a strong entity tag, or a date that is as good.
    let validator: String

    /// What an answer to the request means for the bytes that are there.
    enum Verdict: Hashable, Sendable {
        /// What comes is the rest.
        case goesOn
        /// What comes is the whole: begin anew with it.
        case beginsAnew
        /// The part is of no use: forget it and ask once more, for all.
        case asksAnew
        /// The answer has nothing to do with it.
        case isUnrelated
    }

    /// The fields that ask for the rest, or for the whole if it is another by now (RFC 9110 sections 14.2, 13.1.5).
    var fields: HTTPFields { ["Range": "bytes=\(offset)-", "If-Range": validator] }

    /// A 206 is taken only if it begins where we are, agrees on the length, goes to the end, and names no other state.
    func verdict(on head: ResponseHead) -> Verdict {
        switch head.status {
        case 200: return .beginsAnew
        case 416: return .asksAnew
        case 206:
            guard let range = head.fields["content-range"].flatMap(ContentRange.init), let part = range.part,
                part.lowerBound == offset,
                total == nil || range.total == nil || range.total == total,
                (range.total ?? total).map({ part.upperBound == $0 }) ?? true,
                head.fields["etag"].map({ $0 == validator || !validator.hasPrefix("\"") }) ?? true
            else { return .asksAnew }
            return .goesOn
        default: return .isUnrelated
        }
    }
}

extension ResumePlan {
    /// To go on with `part`; nil if nothing tells whether the rest belongs to it.
    init?(_ part: PartialFile) {
        guard let validator = Validators.strong(part.response.fields, now: part.response.received) else {
            return nil
        }
        self.init(offset: part.count, total: part.total, validator: validator)
    }
}
