/// Why a shared tier cannot be created.
public enum SharedTierError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not the address of a store. The text has no password.
    case malformedAddress(text: String)
    /// An S3 store, but no credentials in the environment.
    case noCredentials
    /// No key to seal values with.
    case noKey
    /// A key that is too short.
    case shortKey

    /// One line: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .malformedAddress(let text):
            "\"\(text)\" is not the address of a store; use one such as http://cache:8080/posters, s3://bucket/prefix or s3+http://host:9000/bucket"
        case .noCredentials:
            "an S3 store needs credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        case .noKey: "a shared store needs a key that seals its values; make one with `openssl rand -hex 32`"
        case .shortKey:
            "the key is too short; it needs \(SharedTier.minimumKeyLength) bytes, such as from `openssl rand -hex 32`"
        }
    }
}
