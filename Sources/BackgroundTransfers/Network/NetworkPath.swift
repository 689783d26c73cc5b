/// How far packets from this machine get, and over which interface.
///
/// It says where the kernel would send a packet, not whether an answer would come: behind a captive portal the reach is
/// `internet` too. Use it to inform a person, not to refuse a load. Loopback always works.
public struct NetworkPath: Sendable, Hashable {
    /// How far packets get.
    public enum Reach: String, Sendable, Hashable {
        /// Only to this machine.
        case none
        /// To the networks of its interfaces.
        case local
        /// To a router that accepts packets for the internet.
        case internet
    }

    /// The kind of a network interface.
    public enum Link: String, Sendable, Hashable {
        /// Ethernet, and interfaces that look like it: a bridge, a container's virtual pair.
        case wired
        case wifi
        /// A mobile network, which may be metered.
        case cellular
        /// Anything else: a tunnel, a serial line.
        case other
    }

    /// How far packets get.
    public let reach: Reach
    /// The kind of the interface; nil if there is none.
    public let link: Link?
    /// The name of the interface, such as `eth0`; nil if there is none.
    public let interface: String?

    /// A path with these values.
    /// - Parameters:
    ///   - reach: how far packets get.
    ///   - link: the kind of the interface; nil for none. Default: nil.
    ///   - interface: its name, such as `eth0`; nil for none. Default: nil.
    public init(reach: Reach, link: Link? = nil, interface: String? = nil) {
        (self.reach, self.link, self.interface) = (reach, link, interface)
    }

    /// The path assumed where the system says nothing.
    static let assumed = NetworkPath(reach: .internet, link: .other)
}

extension NetworkPath: CustomStringConvertible {
    /// `internet over wifi (wlan0)`, `local over wired (eth0)`, `none`.
    public var description: String {
        guard let link else { return reach.rawValue }
        return "\(reach.rawValue) over \(link.rawValue)" + (interface.map { " (\($0))" } ?? "")
    }
}
