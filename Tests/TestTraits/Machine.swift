import Foundation
import Glibc

/// What the tests need of a machine besides a toolchain.
enum Machine {
    /// Tells once, on standard error, what this machine lacks. Ends the run if hardly a test can pass without it.
    static func check() {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var missing: [String] = []
        if unsafe access(folder, W_OK | X_OK) != 0 {
            missing.append(
                "Files cannot be made in \(folder): \(reason). Set TMPDIR to a folder where they can.")
        }
        if !canConnect(AF_INET) {
            missing.append(
                "No server can be reached on 127.0.0.1: \(reason). Set the interface lo up (ip link set lo up)."
            )
        }
        let isHopeless = !missing.isEmpty
        if !canConnect(AF_INET6) {
            missing.append("There is no IPv6 (::1): \(reason). Tests of it may fail.")
        }
        let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
        if terminal < 0 {
            missing.append(
                "There are no pseudoterminals: \(reason). Mount devpts on /dev/pts; tests in a terminal fail."
            )
        }
        close(terminal)
        for line in missing { FileHandle.standardError.write(Data("This machine: \(line)\n".utf8)) }
        if isHopeless { _exit(EXIT_FAILURE) }
    }

    private static var reason: String { unsafe String(cString: strerror(errno)) }

    /// Whether a socket can listen on the loopback address of a family, at some port, and another connect to it. With the
    /// interface down only the second fails.
    private static func canConnect(_ family: Int32) -> Bool {
        let sockets = (0..<2).map { _ in socket(family, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for socket in sockets { close(socket) } }
        guard sockets[1] >= 0 else { return false }
        if family == AF_INET {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(family)
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            return isReached(sockets, at: &address)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(family)
        address.sin6_addr = in6addr_loopback
        return isReached(sockets, at: &address)
    }

    private static func isReached<Address>(_ sockets: [Int32], at address: inout Address) -> Bool {
        unsafe withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { return false }
            let pointer = unsafe start.assumingMemoryBound(to: sockaddr.self)
            var size = socklen_t(bytes.count)
            return unsafe bind(sockets[0], pointer, size) == 0 && listen(sockets[0], 1) == 0
                && getsockname(sockets[0], pointer, &size) == 0 && connect(sockets[1], pointer, size) == 0
        }
    }
}
