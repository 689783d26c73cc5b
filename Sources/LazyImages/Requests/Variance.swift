/// The request fields that an answer's Vary names, each with a hash of its value (RFC 9111 section 4.1). A value may be
/// a secret, so only the hash is kept. A field that was not sent has the hash `-`.
struct Variance: Hashable, Sendable {
    /// Names in lower case, with the hashes in hexadecimal.
    private(set) var members: [(name: String, hash: String)] = []

    /// No Vary: every request matches.
    init() {}

    init(members: [(name: String, hash: String)]) { self.members = members }

    /// The fields of `request` that the Vary of `response` names; nil for `*`, which matches no request.
    init?(_ response: HeaderFields, request: HeaderFields) {
        guard let names = Vary.names(in: response) else { return nil }
        members = names.map { (name: $0, hash: Self.hash(of: $0, in: request)) }
    }

    /// Whether a request has the same values in these fields.
    func matches(_ request: HeaderFields) -> Bool {
        members.allSatisfy { Self.hash(of: $0.name, in: request) == $0.hash }
    }

    /// The hash of a field's value as a request has it, or `-` for a field that was not sent.
    private static func hash(of name: String, in request: HeaderFields) -> String {
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
