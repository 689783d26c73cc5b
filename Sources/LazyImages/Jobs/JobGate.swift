/// Lets a job's images begin, or has them wait: all while memory is short, and those of other machines while there is no
/// network, or only one that the order refuses.
actor JobGate {
    /// Why images wait, by what is known. Plain values.
    struct Surroundings {
        let refusesCellular: Bool
        /// Nil as long as nobody knows: then it is waited for.
        var path: NetworkPath?
        var level = MemoryPressure.Level.normal

        /// What images on this machine wait for.
        var nearWait: JobWait? { level > .normal ? .memory : nil }

        /// What images of other machines wait for.
        var farWait: JobWait? {
            if let nearWait { return nearWait }
            guard let path else { return nil }
            if path.reach == .none { return .network }
            return refusesCellular && path.link == .cellular ? .otherNetwork : nil
        }
    }

    private var surroundings: Surroundings
    private let near: Prewarmer
    private let far: Prewarmer
    private let farRequests: [ImageRequest]
    private let tell: @Sendable (JobWait?) -> Void
    private var told: JobWait?

    /// - Parameters:
    ///   - near: works on what this machine serves itself.
    ///   - far: works on `farRequests`. It is paused until the network is known.
    ///   - tell: hears what the job waits for, when that changes.
    init(
        near: Prewarmer, far: Prewarmer, farRequests: [ImageRequest], refusesCellular: Bool,
        tell: @escaping @Sendable (JobWait?) -> Void
    ) {
        surroundings = Surroundings(refusesCellular: refusesCellular)
        (self.near, self.far, self.farRequests, self.tell) = (near, far, farRequests, tell)
        far.pause()
    }

    func note(_ path: NetworkPath) {
        surroundings.path = path
        apply()
    }

    func note(_ level: MemoryPressure.Level) {
        surroundings.level = level
        apply()
    }

    private func apply() {
        let (nearWait, farWait) = (surroundings.nearWait, surroundings.farWait)
        if nearWait == nil { near.resume() } else { near.pause() }
        if farWait == nil, surroundings.path != nil { far.resume() } else { far.pause() }
        // What is under way would break, or cost: it goes on where it was.
        if farWait == .network || farWait == .otherNetwork { far.stop(farRequests) }
        let wait = farRequests.isEmpty ? nearWait : farWait
        guard wait != told else { return }
        told = wait
        tell(wait)
    }
}
