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
        guard let names = Self.names(in: response) else { return nil }
        members = names.map { (name: $0, hash: Self.hash(of: $0, in: request)) }
    }

    /// The names in Vary, lower case and in order; nil where `*` is among them.
    static func names(in response: HTTPFields) -> [String]? {
        let values = response.values(of: "vary")
        guard !values.isEmpty else { return [] }
        let names = Set(FieldList.members(of: values).map { $0.lowercased() })
        return names.contains("*") ? nil : names.sorted()
    }

    /// Whether a request has the same fields.
    func matches(_ request: HTTPFields) -> Bool {
        members.allSatisfy { Self.hash(of: $0.name, in: request) == $0.hash }
    }

    private static func hash(of name: String, in request: HTTPFields) -> String {
        let values = request.values(of: name)
        return values.isEmpty ? "-" : SHA256.hash(of: normalised(values, name: name)).hexadecimal
    }

    /// One spelling for values that mean the same: several fields are one list, white space around its members is none of
    /// them, and the members of the Accept fields come in any order and case.
    private static func normalised(_ values: [String], name: String) -> String {
        var members = FieldList.members(of: values).map(String.init)
        if name.hasPrefix("accept") {
            members = members.map { member in String(member.lowercased().filter { $0 != " " && $0 != "\t" }) }
                .sorted()
        }
        return members.joined(separator: ",")
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
