/// The plan of a background job: all that its process needs to know. It is stored in the job's folder, which only this
/// user can read, and contains no secrets.
public struct JobPlan: Sendable, Hashable, Codable {
    /// One image.
    public struct Item: Sendable, Hashable, Codable {
        /// Its absolute URL, without user name and password.
        public var url: String
        /// The SHA-256 that its bytes must have, in hexadecimal; nil for any.
        public var checksum: String?
        /// Whether to send the caller's header fields. The library ignores it: it is for the program that makes the
        /// requests.
        public var sendsFields: Bool

        /// An image of a plan.
        public init(url: String, checksum: String? = nil, sendsFields: Bool = true) {
            (self.url, self.checksum, self.sendsFields) = (url, checksum, sendsFields)
        }
    }

    /// The images, in their order.
    public var items: [Item]
    /// Settings of the program that works on the job. No secrets.
    public var settings: [String]
    /// The names of the secrets passed to `start`, such as `--header`. `resume` requires them again.
    public var secretNames: [String]
    /// The number of invalid entries in the caller's list, which count as failed.
    public var rejected: Int
    /// Whether the job waits while the network is a mobile network.
    public var refusesCellular: Bool

    /// A plan with these values.
    public init(
        _ items: [Item], settings: [String] = [], secretNames: [String] = [], rejected: Int = 0,
        refusesCellular: Bool = false
    ) {
        self.items = items
        self.settings = settings
        self.secretNames = secretNames
        self.rejected = rejected
        self.refusesCellular = refusesCellular
    }
}
