/// The fields of a request that an answer depends on (RFC 9111 section 4.1).
package enum Vary {
    /// The names in an answer's Vary, lower case and in order; nil where `*` is among them: no other request matches.
    package static func names(in response: HTTPFields) -> [String]? {
        let values = response.values(of: "vary")
        guard !values.isEmpty else { return [] }
        let names = Set(FieldList.members(of: values).map { $0.lowercased() })
        return names.contains("*") ? nil : names.sorted()
    }

    /// The value of a request's field, in one spelling for all that mean the same; nil for a field that was not sent.
    ///
    /// Several fields of the name are one list, white space around its members does not count, and the members of the
    /// Accept fields come in any order and case.
    package static func value(of name: String, in request: HTTPFields) -> String? {
        let values = request.values(of: name)
        guard !values.isEmpty else { return nil }
        var members = FieldList.members(of: values).map(String.init)
        if name.hasPrefix("accept") {
            members = members.map { member in String(member.lowercased().filter { $0 != " " && $0 != "\t" }) }
                .sorted()
        }
        return members.joined(separator: ",")
    }
}
