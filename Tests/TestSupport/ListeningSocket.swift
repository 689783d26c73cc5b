import Glibc

/// A socket that listens on a port. Its inode identifies it, also when another socket takes the port later:
///
///     sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
///      0: 0100007F:B61D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 81373 1 ...
package struct ListeningSocket {
    private let inode: ArraySlice<UInt8>

    /// The socket that listens on `port` of IPv4 now; nil if none does.
    package init?(port: UInt16) {
        let digits = String(port, radix: 16, uppercase: true)
        let ending = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        guard let socket = Self.all().first(where: { $0.address.suffix(5).elementsEqual(ending.utf8) }) else {
            return nil
        }
        inode = socket.inode
    }

    /// Whether it still listens.
    package var isOpen: Bool { Self.all().contains { $0.inode == inode } }

    private static func all() -> [(address: ArraySlice<UInt8>, inode: ArraySlice<UInt8>)] {
        bytes(of: "/proc/self/net/tcp").split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "))
            // TCP_LISTEN of the kernel's tcp_states.h.
            return fields.count > 9 && fields[3].elementsEqual("0A".utf8) ? (fields[1], fields[9]) : nil
        }
    }

    private static func bytes(of path: String) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(file, &chunk, chunk.count)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }
}
