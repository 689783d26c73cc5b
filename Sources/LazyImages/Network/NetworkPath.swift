/// How far this machine reaches, and over what.
///
/// It says what the kernel would do with a packet, not whether an answer would come: a captive portal and a router without
/// a line behind it count as the internet. So it informs and never forbids; loopback is always there.
public struct NetworkPath: Sendable, Hashable {
    /// How far a packet gets.
    public enum Reach: String, Sendable, Hashable {
        /// To this machine alone.
        case none
        /// To its own networks.
        case local
        /// To a router that takes what is for anywhere.
        case internet
    }

    /// What kind of interface a packet takes.
    public enum Link: String, Sendable, Hashable {
        /// Ethernet, and what looks like it: a bridge, a container's pair.
        case wired
        case wifi
        /// A mobile network, which may cost by the byte.
        case cellular
        /// Anything else: a tunnel, a serial line.
        case other
    }

    /// How far a packet gets.
    public let reach: Reach
    /// The interface it takes; nil where there is none.
    public let link: Link?
    /// That interface's name, such as `eth0`; nil where there is none.
    public let interface: String?

    /// A path of these parts.
    /// - Parameters:
    ///   - reach: how far a packet gets.
    ///   - link: the kind of the interface; nil where there is none.
    ///   - interface: its name, such as `eth0`; nil where there is none.
    public init(reach: Reach, link: Link? = nil, interface: String? = nil) {
        (self.reach, self.link, self.interface) = (reach, link, interface)
    }

    /// What is taken for true where the system tells nothing: the internet, over something.
    static let assumed = NetworkPath(reach: .internet, link: .other)
}

extension NetworkPath: CustomStringConvertible {
    /// `internet over wifi (wlan0)`, `local over wired (eth0)`, `none`.
    public var description: String {
        guard let link else { return reach.rawValue }
        return "\(reach.rawValue) over \(link.rawValue)" + (interface.map { " (\($0))" } ?? "")
    }
}
