import HTTPSemantics
import HTTPServer

extension HTTPResponse {
    /// The answer to GET or HEAD of a file. `cacheSeconds` is its freshness lifetime.
    static func serving(
        _ file: ServedFile, mediaType: String, to request: RequestHead, cacheSeconds: Int, now: Int
    ) -> HTTPResponse {
        let metadata = file.metadata
        let conditions = Preconditions(
            request.fields, isRead: true, entityTag: metadata.entityTag, lastModified: metadata.seconds,
            now: now)
        var fields: HeaderFields = [
            "ETag": metadata.entityTag,
            // A date must not be later than the answer's own (RFC 9110 section 8.8.2.1).
            "Last-Modified": HTTPDate.format(min(metadata.seconds, now)),
            "Cache-Control": "max-age=\(cacheSeconds)",
        ]
        switch conditions.outcome {
        case .failed: return plain(.preconditionFailed)
        case .notModified: return HTTPResponse(status: .notModified, fields: fields)
        case .proceed: break
        }
        fields["Content-Type"] = mediaType
        return HTTPResponse(status: .ok, fields: fields, body: .file(file, 0..<metadata.size))
            .part(for: request, conditions) { plain(.rangeNotSatisfiable) }
    }
}
