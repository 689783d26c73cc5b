extension RequestSignature {
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
}
