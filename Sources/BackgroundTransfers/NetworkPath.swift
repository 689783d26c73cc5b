import SystemSupport

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
    fileprivate static let assumed = NetworkPath(reach: .internet, link: .other)
}

extension NetworkPath: CustomStringConvertible {
    /// `internet over wifi (wlan0)`, `local over wired (eth0)`, `none`.
    public var description: String {
        guard let link else { return reach.rawValue }
        return "\(reach.rawValue) over \(link.rawValue)" + (interface.map { " (\($0))" } ?? "")
    }
}

/// Finds the kind of a network interface by its files in `/sys/class/net`.
enum InterfaceKind {
    /// - Parameter folder: the system's folder of interfaces.
    static func link(_ name: String, folder: String = "/sys/class/net") -> NetworkPath.Link {
        let about = "\(folder)/\(name)"
        let type = lines("\(about)/uevent").first { $0.hasPrefix("DEVTYPE=") }?.dropFirst("DEVTYPE=".count)
        // ARPHRD: 1 is Ethernet, 32 Infiniband, 519 has no link layer.
        let hardware = lines("\(about)/type").first
        if type == "wwan" || hardware == "519" { return .cellular }
        // Older drivers name no type, but have this folder.
        let isWireless = unsafe access("\(about)/wireless", F_OK) == 0
        if isWireless || type == "wlan" { return .wifi }
        if type == "bluetooth" { return .other }
        // An interface of another namespace has no files here: most are a container's virtual pair.
        return [nil, "1", "32"].contains(hardware) ? .wired : .other
    }

    private static func lines(_ path: String) -> [Substring] {
        // Ignored: as above.
        guard let bytes = try? FileCalls().contents(ofPath: path) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}

/// Reports how far packets from this machine get: now, and after every change.
///
///     for await path in PathMonitor() {
///         print(path)                            // internet over wifi (wlan0)
///     }
///
/// The first path comes at once. After a change of links, addresses or routes the next path comes when nothing has
/// changed for 200 ms, or after 2 s of changes, if it differs from the last one. A slow reader gets only the newest
/// path. Where the system says nothing, the path is the internet over `.other`, and the sequence ends.
///
/// Each iterator has a thread, which ends with the iterator. Safe for concurrent use from any thread or actor.
public struct PathMonitor: AsyncSequence, Sendable {
    /// How long nothing must have changed, and the longest wait for that.
    private static let (quiet, longest) = (Duration.milliseconds(200), Duration.seconds(2))

    /// A monitor. Each iterator starts to watch when it is made.
    public init() {}

    /// The path now. Blocks for about 0.1 ms.
    public static func currentPath() -> NetworkPath {
        NetworkTable.current()?.path { InterfaceKind.link($0) } ?? .assumed
    }

    /// Starts a new reader.
    public func makeAsyncIterator() -> AsyncStream<NetworkPath>.Iterator {
        AsyncStream.onThread(
            named: "LazyImages.path", .bufferingNewest(1), orElse: .assumed, Self.watch(until:notify:)
        ).makeAsyncIterator()
    }

    private static func watch(until end: WakeDescriptor, notify: (NetworkPath) -> Void) {
        // Opened first: it reports what changes after the first look.
        guard let changes = RouteSocket() else { return notify(.assumed) }
        var last = currentPath()
        notify(last)
        while true {
            var wake = wait(for: changes, or: end, until: nil)
            let latest = ContinuousClock.now + longest
            while wake == .change, ContinuousClock.now < latest {
                wake = wait(for: changes, or: end, until: .now + quiet)
            }
            if wake == .end { return }
            let next = currentPath()
            guard next != last else { continue }
            last = next
            notify(next)
        }
    }

    private enum Wake { case change, quiet, end }

    /// Waits for a change, whose messages it discards, or for the end; `.quiet` if neither came in time.
    private static func wait(
        for changes: RouteSocket, or end: WakeDescriptor, until deadline: ContinuousClock.Instant?
    ) -> Wake {
        let ready = Polling.ready([(end.descriptor, POLLIN), (changes.descriptor, POLLIN)], until: deadline)
        if ready[0] { return .end }
        if ready[1] { changes.drain() }
        return ready[1] ? .change : .quiet
    }
}
