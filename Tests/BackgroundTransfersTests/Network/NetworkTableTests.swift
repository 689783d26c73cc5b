import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import BackgroundTransfers

@Suite("From interfaces and routes to a network path", .bounded)
struct NetworkTableTests {
    private static let (own, wireless): ([UInt8], [UInt8]) = ([192, 168, 0, 9], [10, 0, 0, 7])

    private func path(
        _ interfaces: [(name: String, carries: Bool, address: [UInt8])], sources: [[UInt8]] = []
    ) -> NetworkPath {
        var table = NetworkTable()
        table.interfaces = interfaces.map { .init(name: $0.name, carries: $0.carries, address: $0.address) }
        table.sources = sources
        return table.path { $0.hasPrefix("wlan") ? .wifi : .wired }
    }

    @Test("the path uses the interface of the route")
    func internet() {
        let both = [("lo", false, [127, 0, 0, 1]), ("eth0", true, Self.own), ("wlan0", true, Self.wireless)]
        let wifi = path(both, sources: [Self.wireless])
        #expect(wifi == NetworkPath(reach: .internet, link: .wifi, interface: "wlan0"))
        #expect(wifi.description == "internet over wifi (wlan0)")
        #expect(path(both, sources: [Self.own, Self.wireless]).interface == "eth0")
    }

    @Test(
        "without a route the path is local; without an interface with an address and a carrier there is none")
    func less() {
        #expect(
            path([("eth0", true, Self.own)]) == NetworkPath(reach: .local, link: .wired, interface: "eth0"))
        #expect(path([("eth0", true, Self.own)], sources: [Self.wireless]).reach == .local)
        #expect(path([("eth0", false, Self.own)], sources: [Self.own]).reach == .none)
        #expect(path([]).description == "none")
    }

    @Test("this machine's table has its loopback address, and one of its addresses for each route")
    func present() throws {
        let table = try #require(NetworkTable.current())
        #expect(table.interfaces.contains { $0.address == [127, 0, 0, 1] && !$0.carries })
        for source in table.sources { #expect(table.interfaces.contains { $0.address == source }) }
    }

    @Test("the kind of an interface comes from the system's files")
    func kinds() throws {
        let folder = try TemporaryFolder()
        func write(_ name: String, _ uevent: String, type: Int = 1) throws {
            try FileManager.default.createDirectory(
                atPath: folder.file(name), withIntermediateDirectories: true)
            try Data(uevent.utf8).write(to: URL(filePath: folder.file("\(name)/uevent")))
            try Data("\(type)\n".utf8).write(to: URL(filePath: folder.file("\(name)/type")))
        }
        try write("wwan0", "DEVTYPE=wwan\nINTERFACE=wwan0\n")
        try write("rmnet0", "", type: 519)
        try write("wlp3s0", "DEVTYPE=wlan\nINTERFACE=wlp3s0\n")
        try write("bnep0", "DEVTYPE=bluetooth\n")
        try write("eth0", "INTERFACE=eth0\n")
        try write("tun0", "INTERFACE=tun0\n", type: 0xFFFE)
        try write("old0", "INTERFACE=old0\n")
        try FileManager.default.createDirectory(
            atPath: folder.file("old0/wireless"), withIntermediateDirectories: true)
        let kinds: [(String, NetworkPath.Link)] = [
            ("wwan0", .cellular), ("rmnet0", .cellular), ("wlp3s0", .wifi), ("old0", .wifi),
            ("bnep0", .other),
            ("eth0", .wired), ("tun0", .other), ("none", .wired),
        ]
        for (name, kind) in kinds {
            #expect(InterfaceKind.link(name, folder: folder.path) == kind, "\(name)")
        }
    }
}
