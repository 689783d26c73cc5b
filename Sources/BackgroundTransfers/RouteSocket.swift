import CMarqueeSystem
import SystemSupport

/// An rtnetlink socket. Blocks: not for the cooperative pool.
final class RouteSocket {
    /// The multicast groups for changes of links, addresses and routes, IPv4 and IPv6.
    private static let changes: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    /// The route to the internet is the route to these addresses, two root name servers. Nothing is sent to them.
    private static let (rootServer4, rootServer6): ([UInt8], [UInt8]) = (
        [198, 41, 0, 4], [0x20, 0x01, 0x05, 0x03, 0xBA, 0x3E, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x30]
    )
    /// The kernel answers at once, but a sandbox may drop the request.
    private static let answerTimeout = Duration.seconds(1)

    let descriptor: Int32
    private var sequence: UInt32 = 0

    /// Nil if this process may not use rtnetlink.
    /// - Parameter hearsChanges: whether the kernel reports every change.
    init?(hearsChanges: Bool) {
        let descriptor = csystem_open_route_socket(hearsChanges ? Self.changes : 0)
        if descriptor < 0 { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The present interfaces, addresses and routes; nil if the kernel does not answer.
    func table() -> NetworkTable? {
        // Starts again if something changes during the listing.
        for _ in 0..<8 {
            var table = NetworkTable()
            var isConsistent = true
            func ask(_ type: UInt16, _ flags: UInt16, _ body: [UInt8]) -> Bool {
                guard let answer = answer(type, flags, body) else { return false }
                for message in answer {
                    if message.flags & NetlinkMessage.interrupted != 0 { isConsistent = false }
                    table.take(message)
                }
                return true
            }
            let any: [UInt8] = [0, 0, 0, 0]
            guard ask(NetlinkMessage.getLink, NetlinkMessage.dump, any + any + any + any),
                ask(NetlinkMessage.getAddress, NetlinkMessage.dump, any + any),
                ask(NetlinkMessage.getRoute, 0, Self.route(UInt8(AF_INET), to: Self.rootServer4)),
                ask(NetlinkMessage.getRoute, 0, Self.route(UInt8(AF_INET6), to: Self.rootServer6))
            else { return nil }
            if isConsistent { return table }
        }
        return nil
    }

    /// Discards the messages about changes.
    func drain() {
        while receive() != nil {}
    }

    private static func route(_ family: UInt8, to address: [UInt8]) -> [UInt8] {
        let (destination, bits): (UInt16, UInt8) = (1, UInt8(address.count * 8))
        return [family, bits, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + NetlinkMessage.attribute(destination, address)
    }

    /// The messages of the answer to a request; empty for an error, such as a missing route. Nil without an answer.
    private func answer(_ type: UInt16, _ flags: UInt16, _ body: [UInt8]) -> [NetlinkMessage]? {
        sequence += 1
        let question = NetlinkMessage(
            type: type, flags: NetlinkMessage.request | flags, sequence: sequence, body: body
        ).bytes
        guard unsafe send(descriptor, question, question.count, 0) == question.count else { return nil }
        let deadline = ContinuousClock.now + Self.answerTimeout
        var answer: [NetlinkMessage] = []
        while Polling.ready([(descriptor, POLLIN)], until: deadline) == [true] {
            guard let datagram = receive() else { return nil }
            for message in NetlinkMessage.messages(of: datagram) where message.sequence == sequence {
                if message.type == NetlinkMessage.done || message.type == NetlinkMessage.error {
                    return answer
                }
                answer.append(message)
                if flags & NetlinkMessage.dump == 0 { return answer }
            }
        }
        return nil
    }

    /// The next datagram; nil if there is none.
    private func receive() -> [UInt8]? {
        // The kernel sends at most 32 KiB at once.
        let datagram = unsafe [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
            count = unsafe max(0, csystem_receive_route(descriptor, buffer.baseAddress, buffer.count))
        }
        return datagram.isEmpty ? nil : datagram
    }
}

/// The network interfaces by rtnetlink: which are up, which have addresses, and which one a packet to the internet
/// takes.
struct NetworkTable: Equatable {
    struct Interface: Equatable {
        let name: String
        /// Its ARPHRD number: 1 for Ethernet.
        let type: UInt16
        /// Whether it is up and has a carrier, and is not loopback.
        let carries: Bool
    }

    /// By interface number.
    private(set) var interfaces: [UInt32: Interface] = [:]
    /// The numbers of the interfaces that have addresses.
    private(set) var addressed: Set<UInt32> = []
    /// The numbers of the interfaces that lead to the internet, the preferred one first.
    private(set) var internetInterfaces: [UInt32] = []

    /// Adds one message of an answer. A truncated message, or one of another type, changes nothing.
    mutating func take(_ message: NetlinkMessage) {
        let body = message.body
        switch message.type {
        case NetlinkMessage.newLink:
            // struct ifinfomsg: family 1, pad 1, type 2, index 4, flags 4, change 4.
            let (up, loopback, running): (UInt32, UInt32, UInt32) = (0x1, 0x8, 0x40)
            guard let type = body.number(UInt16.self, at: 2), let index = body.number(UInt32.self, at: 4),
                let flags = body.number(UInt32.self, at: 8), let name = message.attribute(3, after: 16)
            else { return }
            interfaces[index] = Interface(
                name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self), type: type,
                carries: flags & (up | loopback | running) == up | running)
        case NetlinkMessage.newAddress:
            // struct ifaddrmsg: family 1, prefix 1, flags 1, scope 1, index 4.
            guard let index = body.number(UInt32.self, at: 4) else { return }
            addressed.insert(index)
        case NetlinkMessage.newRoute:
            // struct rtmsg: family, two lengths, service, table, protocol, scope, type: 1 each, flags 4.
            let unicast: UInt8 = 1
            guard body.count >= 12, body[7] == unicast,
                let index = message.attribute(4, after: 12)?.number(UInt32.self, at: 0)
            else { return }
            internetInterfaces.append(index)
        default: break
        }
    }

    /// The path of packets to the internet, else to a local network. `link` finds the kind of an interface.
    func path(link: (Interface) -> NetworkPath.Link) -> NetworkPath {
        func usable(_ index: UInt32) -> Interface? {
            guard addressed.contains(index), let interface = interfaces[index], interface.carries else {
                return nil
            }
            return interface
        }
        if let interface = internetInterfaces.lazy.compactMap(usable).first {
            return NetworkPath(reach: .internet, link: link(interface), interface: interface.name)
        }
        if let interface = interfaces.keys.sorted().lazy.compactMap(usable).first {
            return NetworkPath(reach: .local, link: link(interface), interface: interface.name)
        }
        return NetworkPath(reach: .none)
    }
}

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
