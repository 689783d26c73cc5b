import Glibc

/// An address in the form that the socket calls take.
struct SocketAddress {
    private enum Form {
        case version4(sockaddr_in)
        case version6(sockaddr_in6)
        case local(sockaddr_un)
    }

    private var form: Form

    /// Reads a numeric address; names are not resolved.
    init(_ text: String, port: UInt16) throws(HTTPServerError) {
        var version4 = sockaddr_in()
        var version6 = sockaddr_in6()
        if unsafe inet_pton(AF_INET, text, &version4.sin_addr) == 1 {
            version4.sin_family = sa_family_t(AF_INET)
            version4.sin_port = port.bigEndian
            form = .version4(version4)
        } else if unsafe inet_pton(AF_INET6, text, &version6.sin6_addr) == 1 {
            version6.sin6_family = sa_family_t(AF_INET6)
            version6.sin6_port = port.bigEndian
            form = .version6(version6)
        } else {
            throw .invalidAddress(text)
        }
    }

    /// The address of a local socket.
    init(path: String) throws(HTTPServerError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isWritten = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard !bytes.isEmpty, bytes.count < place.count, !bytes.contains(0) else { return false }
            unsafe place.copyBytes(from: bytes)
            return true
        }
        guard isWritten else { throw .invalidPath(path) }
        form = .local(address)
    }

    var family: Int32 {
        switch form {
        case .version4: AF_INET
        case .version6: AF_INET6
        case .local: AF_UNIX
        }
    }

    /// Lends the address and its length to a socket call.
    @unsafe func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        func lend<Address>(_ address: Address) -> Result {
            unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }
        return switch form {
        case .version4(let address): lend(address)
        case .version6(let address): lend(address)
        case .local(let address): lend(address)
        }
    }

    /// The port a bound socket has.
    static func port(of descriptor: Int32) throws(HTTPServerError) -> UInt16 {
        // Both families have the port at the same offset, so the larger structure reads either.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let failure = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard failure == 0 else { throw .system(call: "getsockname", errno: errno) }
        return UInt16(bigEndian: address.sin6_port)
    }
}

extension Peer {
    /// The peer at the address that accept(2) gave.
    init(_ storage: sockaddr_storage) {
        var storage = storage
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = Int32(storage.ss_family)
        let isWritten = unsafe withUnsafePointer(to: &storage) { pointer in
            switch family {
            case AF_INET:
                unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    var number = unsafe address.pointee.sin_addr
                    return unsafe inet_ntop(AF_INET, &number, &text, socklen_t(text.count)) != nil
                }
            case AF_INET6:
                unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    var number = unsafe address.pointee.sin6_addr
                    return unsafe inet_ntop(AF_INET6, &number, &text, socklen_t(text.count)) != nil
                }
            default: false
            }
        }
        guard isWritten else {
            self.init(address: nil, isLocal: family == AF_UNIX)
            return
        }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        var address = String(decoding: bytes, as: UTF8.self)
        // A socket that listens on both families reports IPv4 addresses inside IPv6 (RFC 4291 section 2.5.5.2).
        if address.hasPrefix("::ffff:"), address.contains(".") { address.removeFirst("::ffff:".count) }
        self.init(address: address, isLocal: address == "::1" || address.hasPrefix("127."))
    }
}
