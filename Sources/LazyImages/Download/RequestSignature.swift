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

    /// Reads the credentials and the region from the environment.
    init(_ environment: [String: String]) throws(SharedTierError) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let accessKey = variable("AWS_ACCESS_KEY_ID"), let secretKey = variable("AWS_SECRET_ACCESS_KEY")
        else { throw .noCredentials }
        self.accessKey = accessKey
        self.secretKey = secretKey
        sessionToken = variable("AWS_SESSION_TOKEN")
        region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? "us-east-1"
    }

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
