import Glibc
import SystemSupport
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
        let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = isPath ? Array(name.utf8) + [0] : [0] + Array(name.utf8.dropFirst())
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let bound = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, socklen_t(MemoryLayout<sa_family_t>.size + bytes.count))
            }
        }
        try #require(bound == 0)
        for (state, text) in [(ServiceManager.State.ready, "READY=1"), (.stopping, "STOPPING=1")] {
            ServiceManager.notify(state, socket: name)
            var message = [UInt8](repeating: 0, count: 100)
            let count = unsafe recv(socket, &message, message.count, Int32(MSG_DONTWAIT))
            try #require(count > 0)
            #expect(String(decoding: message.prefix(count), as: UTF8.self) == text)
        }
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
