/// Comma-separated lists in header fields (RFC 9110 section 5.6.1). A comma in a quoted string does not separate, and
/// empty members do not count.
package enum FieldList {
    /// The members of all values of a field, in order, without surrounding white space.
    package static func members(of values: [String]) -> [Substring] { values.flatMap { members(of: $0) } }

    /// The members of one value.
    package static func members(of value: String) -> [Substring] { pieces(of: value, at: UInt8(ascii: ",")) }

    /// The pieces between separators, without surrounding white space. Separators in quoted strings and empty pieces do
    /// not count.
    static func pieces(of value: String, at separator: UInt8) -> [Substring] {
        var pieces: [Substring] = []
        let bytes = value.utf8
        var start = bytes.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in bytes.indices {
            let byte = bytes[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                append(value[start..<index], to: &pieces)
                start = bytes.index(after: index)
            }
        }
        append(value[start...], to: &pieces)
        return pieces
    }

    /// The content of a quoted string, unescaped (RFC 9110 section 5.6.4); nil for anything else.
    package static func unquoted(_ text: Substring) -> String? {
        let bytes = text.utf8
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return nil
        }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                if !isEscaped, byte == UInt8(ascii: "\"") { return nil }
                content.append(byte)
                isEscaped = false
            }
        }
        return isEscaped ? nil : String(decoding: content, as: UTF8.self)
    }

    private static func append(_ piece: Substring, to pieces: inout [Substring]) {
        let trimmed = trimmed(piece)
        if !trimmed.isEmpty { pieces.append(trimmed) }
    }

    /// Removes surrounding spaces and tabs.
    package static func trimmed(_ text: Substring) -> Substring {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let bytes = text.utf8
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return text[text.endIndex...] }
        return text[first...last]
    }
}

/// The request fields that selected a response (RFC 9111 section 4.1).
package enum Vary {
    /// The names in the Vary of a response, in lower case and sorted; nil if `*` is among them: no request matches
    /// then.
    package static func names(in response: HeaderFields) -> [String]? {
        let values = response.values(of: "vary")
        guard !values.isEmpty else { return [] }
        let names = Set(FieldList.members(of: values).map { $0.lowercased() })
        return names.contains("*") ? nil : names.sorted()
    }

    /// The normalised value of a request field; nil for an absent field.
    ///
    /// Repeated fields become one list without surrounding white space. Order and case do not count in the Accept
    /// fields.
    package static func value(of name: String, in request: HeaderFields) -> String? {
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
