import Glibc

/// An IPv4 or IPv6 address with its port, in the form the socket calls take.
struct SocketAddress {
    private enum Form {
        case version4(sockaddr_in)
        case version6(sockaddr_in6)
    }

    private var form: Form

    /// Reads an address written in numbers; names are not looked up.
    init(_ text: String, port: UInt16) throws(CatalogueServiceError) {
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

    var family: Int32 {
        switch form {
        case .version4: AF_INET
        case .version6: AF_INET6
        }
    }

    /// Lends the address as the calls want it, with its length.
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
        }
    }

    /// The port a bound socket has.
    static func port(of descriptor: Int32) throws(CatalogueServiceError) -> UInt16 {
        // The port stands at the same place for both families, so the larger form reads either.
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
