import CCurl

/// The credentials that sign a request for S3 (AWS Signature Version 4). A transport that cannot sign sends the request
/// unsigned, and the server refuses it.
package struct RequestSignature: Sendable {
    /// The region of the bucket, such as `eu-central-1`.
    let region: String
    let accessKey: String
    let secretKey: String
    /// For credentials that expire.
    let sessionToken: String?

    /// Makes libcurl sign a handle's request. Such a handle is not reused.
    /// - Returns: whether this libcurl can sign.
    func apply(to handle: OpaquePointer) -> Bool {
        [
            (CCURLOPT_AWS_SIGV4, "aws:amz:\(region):s3"), (CCURLOPT_USERNAME, accessKey),
            (CCURLOPT_PASSWORD, secretKey),
        ].allSatisfy { option, text in
            unsafe text.withCString {
                unsafe ccurl_easy_set_pointer(handle, Int32(option), $0) == CCURLE_OK
            }
        }
    }
}
