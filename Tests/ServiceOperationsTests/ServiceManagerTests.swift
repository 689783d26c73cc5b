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
