import LazyImages

/// `--no-cellular`: a mobile network, which may cost by the byte, is not used.
enum CellularRefusal {
    /// - Throws: where the way to the internet is a mobile network.
    static func check(_ path: NetworkPath = PathMonitor.currentPath()) throws(Failure) {
        guard path.link == .cellular else { return }
        throw Failure(
            "the network is cellular (\(path.interface ?? "?")), which --no-cellular refuses; use another network, or leave the option out",
            code: "cellular-refused")
    }
}

extension Option {
    static let noCellular = Option(
        name: "no-cellular", help: "refuse where the network is a mobile one; a job waits for another")
}
