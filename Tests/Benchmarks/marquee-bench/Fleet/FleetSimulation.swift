import SystemSupport

/// Simulates a fleet of the picture service: which instance has which picture, how unequal the load is, and which
/// requests reach the store. The result is the same in every run.
struct FleetSimulation {
    /// Sources, each at some sizes.
    var sources = 200_000
    /// How unequal their popularity is: Zipf's law with this exponent. 0.8 is usual for pictures on the web (Breslau et
    /// al., INFOCOM 1999).
    var skew = 0.8
    var instances = 1000
    /// Points of each instance on the ring.
    var pointsEach = 1024

    /// How unequal a load is.
    struct Balance: Equatable {
        /// The load of the busiest instance, over the mean.
        var worst: Double
        /// The part of requests that another instance answers than the picture's own.
        var elsewhere = 0.0
    }

    private var ring: HashRing { HashRing(instances: Array(0..<instances), pointsEach: pointsEach) }

    /// Sources that each instance has.
    func sourceBalance() -> Balance {
        let ring = ring
        var counts = [Int](repeating: 0, count: instances)
        for source in 0..<sources { counts[ring.owner(of: source)] += 1 }
        return Balance(worst: Self.worst(counts))
    }

    /// - Parameters:
    ///   - requests: under way at once in the whole fleet.
    ///   - factor: a bounded load: no instance has more than so many times the mean, rounded up (Mirrokni et al.,
    ///     SODA 2018). Nil: no bound.
    func requestBalance(requests: Int, factor: Double?) -> Balance {
        let ring = ring
        var random = SeededNumbers(seed: 19)
        let popularity = Zipf(count: sources, skew: skew)
        var counts = [Int](repeating: 0, count: instances)
        var elsewhere = 0
        let limit = factor.map { Int(($0 * Double(requests) / Double(instances)).rounded(.up)) }
        for _ in 0..<requests {
            let source = popularity.draw(&random)
            let home = ring.owner(of: source)
            let instance = limit.map { limit in ring.owner(of: source) { counts[$0] < limit } } ?? home
            counts[instance] += 1
            if instance != home { elsewhere += 1 }
        }
        return Balance(
            worst: Self.worst(counts), elsewhere: Double(elsewhere) / Double(requests))
    }

    /// What becomes of sources when the fleet changes.
    struct Change: Equatable {
        /// The part of sources that another instance has then.
        var moved: Double
        /// The part that moved although its instance is still there, and to one that was there before.
        var movedInVain: Double
        /// Sources of the busiest instance afterwards, over the mean.
        var worst: Double
    }

    /// - Parameter remaining: the instances afterwards.
    func change(to remaining: [Int]) -> Change {
        let before = ring
        let after = HashRing(instances: remaining, pointsEach: pointsEach)
        let (old, new) = (Set(before.instances), Set(remaining))
        var (moved, vain) = (0, 0)
        var counts: [Int: Int] = [:]
        for source in 0..<sources {
            let (from, to) = (before.owner(of: source), after.owner(of: source))
            counts[to, default: 0] += 1
            guard from != to else { continue }
            moved += 1
            if new.contains(from), old.contains(to) { vain += 1 }
        }
        return Change(
            moved: Double(moved) / Double(sources), movedInVain: Double(vain) / Double(sources),
            worst: Double(counts.values.max() ?? 0) * Double(remaining.count) / Double(sources))
    }

    /// Instances without one zone of three.
    var withoutZone: [Int] { (0..<instances).filter { $0 % 3 != 0 } }

    /// The part of all instances that these are.
    func share(of some: [Int]) -> Double { Double(some.count) / Double(instances) }

    /// What the store is asked for, second by second, after the fleet has changed: what moved is read there once.
    /// - Parameters:
    ///   - rate: requests a second at the whole fleet.
    ///   - sizes: sizes of each source, asked for alike.
    func storeReads(after remaining: [Int], rate: Int, sizes: Int, seconds: Int) -> [Int] {
        let before = ring
        let after = HashRing(instances: remaining, pointsEach: pointsEach)
        let isMoved = (0..<sources).map { before.owner(of: $0) != after.owner(of: $0) }
        var isKnown = [Bool](repeating: false, count: sources * sizes)
        var random = SeededNumbers(seed: 23)
        let popularity = Zipf(count: sources, skew: skew)
        return (0..<seconds).map { _ in
            var reads = 0
            for _ in 0..<rate {
                let source = popularity.draw(&random)
                let picture = source * sizes + random.below(sizes)
                guard isMoved[source], !isKnown[picture] else { continue }
                isKnown[picture] = true
                reads += 1
            }
            return reads
        }
    }

    private static func worst(_ counts: [Int]) -> Double {
        Double(counts.max() ?? 0) * Double(counts.count) / Double(max(1, counts.reduce(0, +)))
    }
}
