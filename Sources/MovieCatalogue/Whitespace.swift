extension UInt8 {
    /// Space, tab, line feed or carriage return: the white space of JSON and of XML.
    var isWhitespace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension String {
    /// Without white space at either end.
    var trimmed: String {
        // Nearly all texts have none there, and looking at two bytes tells it: what they begin is no white space either.
        if let first = utf8.first, let last = utf8.last, Self.isInk(first), Self.isInk(last) { return self }
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }

    private static func isInk(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    /// With each run of ASCII white space as one space, and none at the ends.
    var collapsed: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var isSeparated = false
        for byte in utf8 {
            if byte.isWhitespace {
                isSeparated = !bytes.isEmpty
                continue
            }
            if isSeparated { bytes.append(UInt8(ascii: " ")) }
            isSeparated = false
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
