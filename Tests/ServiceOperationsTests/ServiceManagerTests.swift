import Glibc
import TestSupport
import TestTraits
import Testing

@testable import ServiceOperations

@Suite("ServiceManager", .bounded)
struct ServiceManagerTests {
    @Test(
        "systemd is notified by a datagram to its socket, in the file system or abstract",
        arguments: [true, false])
    func notify(isPath: Bool) throws {
        let folder = try TemporaryFolder()
        let name = isPath ? folder.file("notify") : "@" + folder.path
        let socket = try NotifySocket(name)
        ServiceManager.notify(.ready, socket: name)
        #expect(socket.message() == "READY=1")
        ServiceManager.notify(.reloading, socket: name)
        let lines = socket.message().split(separator: "\n")
        #expect(lines.first == "RELOADING=1")
        let time = try #require(lines.last?.split(separator: "=").last.flatMap { Int($0) })
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        #expect(time > 0 && time <= (now.tv_sec + 1) * 1_000_000)
        ServiceManager.notify(.stopping, socket: name)
        #expect(socket.message() == "STOPPING=1")
    }

    @Test(
        "without systemd nothing happens",
        arguments: [
            nil, "", "@", "vsock:2:1234", "/nowhere/notify", "/" + String(repeating: "x", count: 200),
        ] as [String?])
    func absent(socket: String?) {
        ServiceManager.notify(.ready, socket: socket)
    }
}

@Suite("What the service manager passes", .bounded)
struct PassedTests {
    private let me = "\(getpid())"

    @Test("the watchdog's time is read, unless it is for another process or no time")
    func watchdog() {
        #expect(ServiceManager.watchdog(["WATCHDOG_USEC": "3000000"]) == .seconds(3))
        #expect(ServiceManager.watchdog(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": me]) == .seconds(3))
        for environment in [
            [:], ["WATCHDOG_USEC": "x"], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "1", "WATCHDOG_PID": "1"],
        ] {
            #expect(ServiceManager.watchdog(environment) == nil)
        }
    }

    @Test("sockets for another process, none, and descriptors that do not listen are no sockets")
    func none() {
        for environment in [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_FDS": "1", "LISTEN_PID": "1"],
            ["LISTEN_FDS": "x", "LISTEN_PID": me], ["LISTEN_FDS": "-1", "LISTEN_PID": me],
            ["LISTEN_FDS": "9999", "LISTEN_PID": me],
        ] {
            #expect(ServiceManager.sockets(environment).isEmpty)
        }
    }
}
