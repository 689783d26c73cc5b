/// Where a server listens.
package enum ListenAddress: Sendable, Hashable {
    /// An IPv4 or IPv6 address in numbers, and a port; 0 lets the system choose one.
    case internet(address: String, port: UInt16)
    /// A local socket at a path.
    case local(path: String)
}
