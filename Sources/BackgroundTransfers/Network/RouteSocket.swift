import CSystem
import Glibc
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
