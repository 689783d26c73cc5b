/// One message of rtnetlink (RFC 3549, rtnetlink(7)): a header of 16 bytes, a body that begins with a structure of its
/// type, then attributes. Numbers are in the machine's byte order. Lengths are checked, although the kernel wrote them.
///
///     length 4 | type 2 | flags 2 | sequence 4 | port 4 | body | attributes: length 2 | type 2 | value, filled up to 4
struct NetlinkMessage: Equatable {
    /// The types of answers.
    static let (error, done, newLink, newAddress, newRoute): (UInt16, UInt16, UInt16, UInt16, UInt16) = (
        2, 3, 16, 20, 24
    )
    /// The types of requests.
    static let (getLink, getAddress, getRoute): (UInt16, UInt16, UInt16) = (18, 22, 26)
    /// Flags of requests.
    static let (request, dump): (UInt16, UInt16) = (0x1, 0x300)
    /// Set if the list changed while the kernel sent it.
    static let interrupted: UInt16 = 0x10
    private static let headerSize = 16

    let type: UInt16
    var flags: UInt16 = 0
    let sequence: UInt32
    let body: [UInt8]

    init(type: UInt16, flags: UInt16 = 0, sequence: UInt32, body: [UInt8]) {
        (self.type, self.flags, self.sequence, self.body) = (type, flags, sequence, body)
    }

    /// The complete messages of a datagram.
    static func messages(of datagram: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var start = 0
        while let length = datagram.number(UInt32.self, at: start).map(Int.init), length >= headerSize,
            start + length <= datagram.count,
            let type = datagram.number(UInt16.self, at: start + 4),
            let flags = datagram.number(UInt16.self, at: start + 6),
            let sequence = datagram.number(UInt32.self, at: start + 8)
        {
            let body = Array(datagram[start + headerSize..<start + length])
            messages.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, body: body))
            start += aligned(length)
        }
        return messages
    }

    /// The bytes to send.
    var bytes: [UInt8] {
        Self.bytes(of: UInt32(Self.headerSize + body.count)) + Self.bytes(of: type) + Self.bytes(of: flags)
            + Self.bytes(of: sequence) + Self.bytes(of: UInt32(0)) + body
    }

    /// The value of the first attribute of a type, after the first `start` bytes of the body.
    func attribute(_ wanted: UInt16, after start: Int) -> [UInt8]? {
        var start = start
        while let length = body.number(UInt16.self, at: start).map(Int.init), length >= 4,
            start + length <= body.count, let type = body.number(UInt16.self, at: start + 2)
        {
            // The two highest bits are flags.
            if type & 0x3FFF == wanted { return Array(body[start + 4..<start + length]) }
            start += Self.aligned(length)
        }
        return nil
    }

    /// The bytes of an attribute.
    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let length = 4 + value.count
        return bytes(of: UInt16(length)) + bytes(of: type) + value
            + [UInt8](repeating: 0, count: aligned(length) - length)
    }

    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        let swapped = number.littleEndian
        return (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: swapped >> ($0 * 8)) }
    }
}

extension [UInt8] {
    /// The number at an index, in little-endian order; nil if the bytes end before the number does.
    func number<Number: FixedWidthInteger & UnsignedInteger>(_ type: Number.Type, at index: Int) -> Number? {
        let size = Number.bitWidth / 8
        guard index >= 0, index <= count - size else { return nil }
        return (0..<size).reduce(Number(0)) { $0 | Number(self[index + $1]) << Number($1 * 8) }
    }
}
