import Glibc
import SystemSupport

/// Finds the kind of a network interface, by its ARPHRD number and its files in `/sys/class/net`.
enum InterfaceKind {
    /// - Parameter folder: the system's folder of interfaces.
    static func link(_ interface: NetworkTable.Interface, folder: String = "/sys/class/net")
        -> NetworkPath.Link
    {
        let (ethernet, infiniband, rawAddresses): (UInt16, UInt16, UInt16) = (1, 32, 519)
        let about = "\(folder)/\(interface.name)"
        let type = deviceType("\(about)/uevent")
        if type == "wwan" || interface.type == rawAddresses { return .cellular }
        // Older drivers name no type, but have this folder.
        let isWireless = unsafe access("\(about)/wireless", F_OK) == 0
        if isWireless || type == "wlan" { return .wifi }
        if type == "bluetooth" { return .other }
        return interface.type == ethernet || interface.type == infiniband ? .wired : .other
    }

    /// The value of `DEVTYPE=`; nil if there is none.
    private static func deviceType(_ path: String) -> String? {
        // Losing the error is right: an interface of another namespace has no file here.
        guard let bytes = try? FileCalls().contents(ofPath: path) else { return nil }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("DEVTYPE=")
        }
        return line.map { String($0.dropFirst("DEVTYPE=".count)) }
    }
}
