import BackgroundTransfers
import LazyImages

/// `--no-cellular`: refuses a mobile network, which may cost by the byte.
enum CellularRefusal {
    /// - Throws: if the internet is reached through a mobile network.
    static func check(_ path: NetworkPath = PathMonitor.currentPath()) throws(Failure) {
        guard path.link == .cellular else { return }
        throw Failure(
            "the network is cellular (\(path.interface ?? "?")), which --no-cellular refuses; use another network, or leave the option out",
            code: "cellular-refused")
    }
}

extension Option {
    static let noCellular = Option(
        name: "no-cellular", help: "refuse a mobile network; a job waits for another")
}
