/// Why there is no shared tier.
public enum SharedTierError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No address of a store. The text holds no password.
    case malformedAddress(text: String)
    /// A store of S3 without credentials in the environment.
    case noCredentials
    /// Nothing to seal values with.
    case noKey
    /// A key that could be guessed.
    case shortKey

    /// One line: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .malformedAddress(let text):
            "\"\(text)\" is no address of a store; name one such as http://cache:8080/posters, s3://bucket/prefix or s3+http://host:9000/bucket"
        case .noCredentials:
            "a store of S3 wants credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        case .noKey: "a shared store wants a key that seals its values, such as from `openssl rand -hex 32`"
        case .shortKey:
            "a key has at least \(SharedTier.minimumKeyLength) bytes, such as from `openssl rand -hex 32`"
        }
    }
}
