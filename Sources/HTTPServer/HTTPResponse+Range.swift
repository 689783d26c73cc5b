package import HTTPSemantics

extension HTTPResponse {
    /// The whole answer, or the part that the request's Range names (RFC 9110 section 14.2). Adds Accept-Ranges.
    /// - Parameters:
    ///   - conditions: the request's conditions. If-Range may ask for the whole answer.
    ///   - refusal: the answer if no byte is in the range. It gets Content-Range.
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
    /// A part, counted from the beginning of the body.
    fileprivate func part(_ part: Range<Int>) -> HTTPResponse.Body {
        switch self {
        case .none: .none
        case .bytes(let bytes): .bytes(Array(bytes[part]))
        case .file(let file, let whole):
            .file(file, whole.lowerBound + part.lowerBound..<whole.lowerBound + part.upperBound)
        }
    }
}
