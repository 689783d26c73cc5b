/// Which fields of the request an answer depends on, and what they were: its Vary, with a hash of each field's value, since
/// a value may be a secret (RFC 9111 section 4.1). A field that was not sent has a value too, which is none.
struct Variance: Hashable, Sendable {
    /// Names in lower case, with the hashes in hexadecimal.
    private(set) var members: [(name: String, hash: String)] = []

    /// No Vary: every request matches.
    init() {}

    init(members: [(name: String, hash: String)]) { self.members = members }

    /// What `response` depends on, as `request` had it; nil for `*`, which no request ever matches.
    init?(_ response: HTTPFields, request: HTTPFields) {
        guard let names = Vary.names(in: response) else { return nil }
        members = names.map { (name: $0, hash: Self.hash(of: $0, in: request)) }
    }

    /// Whether a request has the same fields.
    func matches(_ request: HTTPFields) -> Bool {
        members.allSatisfy { Self.hash(of: $0.name, in: request) == $0.hash }
    }

    /// The hash of a field's value as a request has it, or `-` for a field that was not sent.
    private static func hash(of name: String, in request: HTTPFields) -> String {
        Vary.value(of: name, in: request).map { SHA256.hash(of: $0).hexadecimal } ?? "-"
    }

    static func == (one: Self, other: Self) -> Bool {
        one.members.elementsEqual(other.members) { $0.name == $1.name && $0.hash == $1.hash }
    }

    func hash(into hasher: inout Hasher) {
        for member in members {
            hasher.combine(member.name)
            hasher.combine(member.hash)
        }
    }
}
