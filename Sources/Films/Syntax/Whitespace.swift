extension UInt8 {
    /// Whether it is a space, tab, line feed or carriage return: the white space of JSON and XML.
    package var isWhitespace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension String {
    /// Removes surrounding white space.
    package var trimmed: String {
        // The fast path for most texts: between two visible ASCII characters nothing needs trimming.
        if let first = utf8.first, let last = utf8.last, Self.isVisibleASCII(first), Self.isVisibleASCII(last)
        {
            return self
        }
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }

    private static func isVisibleASCII(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    /// Replaces each run of ASCII white space by one space, and trims.
    var collapsed: String { collapsed(keeping: []) }

    /// The same, but the white space at the offsets in `kept`, in order, stays.
    func collapsed(keeping kept: [Int]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var kept = kept[...]
        var isSeparated = false
        var offset = 0
        for byte in utf8 {
            defer { offset += 1 }
            if byte.isWhitespace {
                if !kept.isEmpty { kept = kept.drop { $0 < offset } }
                if kept.first != offset {
                    isSeparated = !bytes.isEmpty
                    continue
                }
            }
            if isSeparated { bytes.append(UInt8(ascii: " ")) }
            isSeparated = false
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes ASCII white space at the ends, but that at the offsets in `kept`, in order.
    func trimmed(keeping kept: [Int]) -> String {
        let bytes = Array(utf8)
        let visible = (bytes.firstIndex { !$0.isWhitespace }, bytes.lastIndex { !$0.isWhitespace })
        guard let first = [visible.0, kept.first].compactMap(\.self).min(),
            let last = [visible.1, kept.last].compactMap(\.self).max()
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}

extension ArraySlice<UInt8> {
    /// Where a text goes on after these bytes of it, for people: the line and the character in it, from 1.
    var endPlace: (line: Int, column: Int) {
        let lastLine = lastIndex(of: UInt8(ascii: "\n")).map { self[($0 + 1)...] } ?? self
        return (count { $0 == UInt8(ascii: "\n") } + 1, String(decoding: lastLine, as: UTF8.self).count + 1)
    }
}
