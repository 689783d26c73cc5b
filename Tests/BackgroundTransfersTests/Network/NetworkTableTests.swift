import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import BackgroundTransfers

@Suite("From rtnetlink messages to a network path", .bounded)
struct NetworkTableTests {
    /// The kernel's message for a link that is up: loopback, cable or wifi.
    private static func link(_ index: UInt32, _ name: String, type: UInt16 = 1, flags: UInt32)
        -> NetlinkMessage
    {
        NetlinkMessage(
            type: NetlinkMessage.newLink, sequence: 1,
            body: [0, 0] + bytes(type) + bytes(index) + bytes(flags) + [0, 0, 0, 0]
                + NetlinkMessage.attribute(16, [6]) + NetlinkMessage.attribute(3, Array(name.utf8) + [0]))
    }

    private static func address(_ index: UInt32) -> NetlinkMessage {
        NetlinkMessage(
            type: NetlinkMessage.newAddress, sequence: 1,
            body: [2, 24, 0, 0] + bytes(index) + NetlinkMessage.attribute(1, [192, 168, 0, 9]))
    }

    private static func route(over index: UInt32, type: UInt8 = 1) -> NetlinkMessage {
        NetlinkMessage(
            type: NetlinkMessage.newRoute, sequence: 1,
            body: [2, 32, 0, 0, 254, 0, 0, type, 0, 0, 0, 0] + NetlinkMessage.attribute(1, [198, 41, 0, 4])
                + NetlinkMessage.attribute(4, bytes(index)))
    }

    private static func bytes(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static let (up, running, loopback): (UInt32, UInt32, UInt32) = (0x1, 0x40, 0x8)
    private static let whole = [
        link(1, "lo", type: 772, flags: up | running | loopback), link(2, "eth0", flags: up | running),
        link(3, "wlan0", flags: up | running), address(1), address(2), address(3), route(over: 3),
    ]

    private func path(_ messages: [NetlinkMessage]) -> NetworkPath {
        var table = NetworkTable()
        for message in messages { table.take(message) }
        return table.path { $0.name.hasPrefix("wlan") ? .wifi : .wired }
    }

    @Test("the path uses the interface of the route")
    func internet() {
        #expect(path(Self.whole) == NetworkPath(reach: .internet, link: .wifi, interface: "wlan0"))
        #expect(path(Self.whole).description == "internet over wifi (wlan0)")
    }

    @Test(
        "without a route the path is local; without an interface with an address and a carrier there is none")
    func less() {
        #expect(
            path(Self.whole.dropLast()) == NetworkPath(reach: .local, link: .wired, interface: "eth0"))
        #expect(path(Self.whole.dropLast() + [Self.route(over: 3, type: 7)]).reach == .local)
        #expect(
            path([Self.link(2, "eth0", flags: Self.up | Self.running), Self.route(over: 2)]).reach == .none)
        #expect(
            path([Self.link(2, "eth0", flags: Self.up), Self.address(2), Self.route(over: 2)]).reach == .none)
        #expect(path(Array(Self.whole.prefix(1)) + [Self.address(1), Self.route(over: 1)]).reach == .none)
        #expect(path([]).description == "none")
    }

    @Test("messages in a datagram are parsed")
    func datagram() {
        let messages = NetlinkMessage.messages(of: Self.whole.flatMap(\.bytes))
        #expect(messages == Self.whole)
    }

    @Test("a datagram that is cut anywhere, or has changed bytes, does no harm")
    func hostile() {
        let datagram = Self.whole.flatMap(\.bytes)
        for length in 0..<datagram.count { _ = path(NetlinkMessage.messages(of: Array(datagram[..<length]))) }
        var numbers = SeededNumbers(seed: 17)
        for _ in 0..<Rounds.count(1_000, many: 20_000) {
            var changed = datagram
            for _ in 0...numbers.below(4) {
                let value = [0, 0xFF, 1, UInt8(numbers.below(256))][numbers.below(4)]
                changed[numbers.below(changed.count)] = value
            }
            _ = path(NetlinkMessage.messages(of: changed))
        }
        // Lengths past the end, and a length of 0 that would never end.
        for length in [0, 1, 15, 16, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32] {
            #expect(
                NetlinkMessage.messages(of: Self.bytes(length) + datagram.dropFirst(4)).count
                    <= Self.whole.count)
        }
    }

    @Test("the kind of an interface comes from the system's files")
    func kinds() throws {
        let folder = try TemporaryFolder()
        func makeFolder(_ name: String) throws {
            try FileManager.default.createDirectory(
                atPath: folder.file(name), withIntermediateDirectories: true)
        }
        func write(_ name: String, _ uevent: String) throws {
            try makeFolder(name)
            try Data(uevent.utf8).write(to: URL(filePath: folder.file("\(name)/uevent")))
        }
        try write("wwan0", "DEVTYPE=wwan\nINTERFACE=wwan0\n")
        try write("wlp3s0", "DEVTYPE=wlan\nINTERFACE=wlp3s0\n")
        try write("bnep0", "DEVTYPE=bluetooth\n")
        try write("eth0", "INTERFACE=eth0\n")
        try write("old0", "INTERFACE=old0\n")
        try makeFolder("old0/wireless")
        func kind(_ name: String, _ type: UInt16 = 1) -> NetworkPath.Link {
            InterfaceKind.link(
                NetworkTable.Interface(name: name, type: type, carries: true), folder: folder.path)
        }
        #expect(kind("wwan0") == .cellular)
        #expect(kind("rmnet0", 519) == .cellular)
        #expect(kind("wlp3s0") == .wifi)
        #expect(kind("old0") == .wifi)
        #expect(kind("bnep0") == .other)
        #expect(kind("eth0") == .wired)
        #expect(kind("tun0", 0xFFFE) == .other)
        #expect(kind("none") == .wired)
    }
}
