import LazyImages

/// Pauses and resumes the images of a job: all of them while memory is short, and those of other machines while there
/// is no network, or only one that the plan refuses.
actor JobGate {
    /// The conditions for loading, as plain values.
    struct Conditions {
        let refusesCellular: Bool
        /// Nil before the first report; images of other machines wait for it.
        var path: NetworkPath?
        var level = MemoryPressure.Level.normal

        /// Why images on this machine wait.
        var localWait: JobWait? { level > .normal ? .memory : nil }

        /// Why images of other machines wait.
        var remoteWait: JobWait? {
            if let localWait { return localWait }
            guard let path else { return nil }
            if path.reach == .none { return .network }
            return refusesCellular && path.link == .cellular ? .otherNetwork : nil
        }
    }

    private var conditions: Conditions
    private let local: Prewarmer
    private let remote: Prewarmer
    private let remoteRequests: [ImageRequest]
    private let notify: @Sendable (JobWait?) -> Void
    private var reported: JobWait?

    /// - Parameters:
    ///   - local: loads the images on this machine.
    ///   - remote: loads `remoteRequests`. It is paused until the network is known.
    ///   - notify: receives the reason for waiting, when it changes.
    init(
        local: Prewarmer, remote: Prewarmer, remoteRequests: [ImageRequest], refusesCellular: Bool,
        notify: @escaping @Sendable (JobWait?) -> Void
    ) {
        conditions = Conditions(refusesCellular: refusesCellular)
        (self.local, self.remote, self.remoteRequests, self.notify) = (local, remote, remoteRequests, notify)
        remote.pause()
    }

    func record(_ path: NetworkPath) {
        conditions.path = path
        apply()
    }

    func record(_ level: MemoryPressure.Level) {
        conditions.level = level
        apply()
    }

    private func apply() {
        let (localWait, remoteWait) = (conditions.localWait, conditions.remoteWait)
        if localWait == nil { local.resume() } else { local.pause() }
        if remoteWait == nil, conditions.path != nil { remote.resume() } else { remote.pause() }
        // Running transfers would fail or cost money. They are resumed later.
        if remoteWait == .network || remoteWait == .otherNetwork { remote.cancel(remoteRequests) }
        let wait = remoteRequests.isEmpty ? localWait : remoteWait
        guard wait != reported else { return }
        reported = wait
        notify(wait)
    }
}
