import SystemSupport

/// Consistent hashing (Karger et al., STOC 1997): instances have points on a ring of 64-bit numbers, and a key belongs
/// to the instance whose point follows the key's own.
struct HashRing {
    private struct Point {
        let position: UInt64
        let instance: Int
    }

    private let points: [Point]
    let instances: [Int]

    /// - Parameters:
    ///   - instances: their numbers. An instance has the same points in every ring.
    ///   - pointsEach: points of each, also called virtual nodes. nginx has 160, HAProxy 16 for each unit of weight.
    init(instances: [Int], pointsEach: Int) {
        self.instances = instances
        points = instances.flatMap { instance in
            // Mixed once: from seeds that differ by the generator's step the same numbers come, one place later.
            var seed = SeededNumbers(seed: UInt64(instance))
            var positions = SeededNumbers(seed: seed.next())
            return (0..<pointsEach).map { _ in Point(position: positions.next(), instance: instance) }
        }.sorted { $0.position < $1.position }
    }

    /// Where a key is on the ring.
    static func position(of key: Int) -> UInt64 {
        var numbers = SeededNumbers(seed: UInt64(truncatingIfNeeded: key) ^ 0x5DEE_CE66_D1CE_4E5B)
        return numbers.next()
    }

    /// The instance of a key.
    func owner(of key: Int) -> Int { points[index(following: Self.position(of: key))].instance }

    /// The first instance that accepts, from the key's own on along the ring; its own where none does.
    func owner(of key: Int, accepting accepts: (Int) -> Bool) -> Int {
        let start = index(following: Self.position(of: key))
        for step in 0..<points.count {
            let instance = points[(start + step) % points.count].instance
            if accepts(instance) { return instance }
        }
        return points[start].instance
    }

    private func index(following position: UInt64) -> Int {
        var (low, high) = (0, points.count)
        while low < high {
            let middle = (low + high) / 2
            if points[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low == points.count ? 0 : low
    }
}
