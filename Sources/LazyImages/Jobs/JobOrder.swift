/// What a background job is to do: all that a process needs which knows nothing else. It is stored in the job's folder,
/// which only this user can read: it holds no secrets.
public struct JobOrder: Sendable, Hashable, Codable {
    /// One image.
    public struct Item: Sendable, Hashable, Codable {
        /// Its absolute URL, without a user's name and password.
        public var url: String
        /// The SHA-256 that its bytes must have, in hexadecimal; nil for any.
        public var checksum: String?
        /// Whether the caller's own header fields go along, where there are any. The job does not look at it: it is for
        /// the process that makes the requests.
        public var sendsFields: Bool

        /// An image of an order.
        public init(url: String, checksum: String? = nil, sendsFields: Bool = true) {
            (self.url, self.checksum, self.sendsFields) = (url, checksum, sendsFields)
        }
    }

    /// The images, in their order.
    public var items: [Item]
    /// The caller's own words, for the process that works on the job. No secrets.
    public var settings: [String]
    /// The names of the secrets that the job is given at its start, such as `--header`: `resume` wants them again.
    public var secretNames: [String]
    /// Entries of the caller's list that name no image: they count as failed.
    public var rejected: Int
    /// Whether the job waits while the network is a mobile one.
    public var refusesCellular: Bool

    /// An order.
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
