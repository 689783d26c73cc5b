package import HTTPSemantics

extension HTTPResponse {
    /// The answer, or the part of it that the request's Range names (RFC 9110 section 14.2). Says that there are parts.
    /// - Parameters:
    ///   - conditions: of the request. If-Range may ask for the whole.
    ///   - refusal: the answer where no byte is in the range. It gets Content-Range.
    package func part(
        for head: RequestHead, _ conditions: Preconditions, else refusal: () -> HTTPResponse
    ) -> HTTPResponse {
        let size = body.count
        let range = head.method == "GET" && conditions.allowsRange ? head.value(of: "range") : nil
        var response = self
        response.fields["Accept-Ranges"] = "bytes"
        switch RangeHeader(range, size: size) {
        case .whole: break
        case .part(let part):
            response.status = .partialContent
            response.fields["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
            response.body = body.part(part)
        case .unsatisfiable:
            response = refusal()
            response.fields["Content-Range"] = "bytes */\(size)"
        }
        return response
    }
}

extension HTTPResponse.Body {
    /// A part of it, counted from its beginning.
    fileprivate func part(_ part: Range<Int>) -> HTTPResponse.Body {
        switch self {
        case .none: .none
        case .bytes(let bytes): .bytes(Array(bytes[part]))
        case .file(let file, let whole):
            .file(file, whole.lowerBound + part.lowerBound..<whole.lowerBound + part.upperBound)
        }
    }
}
