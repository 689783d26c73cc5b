import SystemSupport
import TestTraits
import Testing

@testable import marquee_bench

@Suite("Hit ratios", .bounded)
struct HitRatioTests {
    @Test(
        "on traces of a film list the memory tier hits at least as often as LRU"
    )
    func browsing() {
        for trace in FrozenTrace.browsing {
            let numbered = NumberedTrace(trace.uses)
            // Larger sizes are slow without optimisation. The benchmark has them all.
            for capacity in trace.capacities.prefix(2) {
                let ratios = HitRatios(of: numbered, capacity: capacity)
                #expect(ratios.ours >= ratios.lru, "\(trace.name), capacity \(capacity)")
                #expect(ratios.optimum >= ratios.ours)
            }
        }
    }

    @Test("a loop that does not fit hits nearly as often as the optimum, where LRU never hits")
    func loop() {
        let trace = NumberedTrace((0..<30_000).map { $0 % 300 })
        let ratios = HitRatios(of: trace, capacity: 200)
        #expect(ratios.lru == 0 && ratios.ours > 0.88 * ratios.optimum)
    }

    @Test(
        "on a trace that is short for a large cache the window leaves plain LRU",
        arguments: [1_001, 1_002, 1_003])
    func shortTrace(seed: UInt64) throws {
        let searches = try #require(FrozenTrace.short(seed: seed).first { $0.name == "searches" })
        let ratios = HitRatios(of: NumberedTrace(searches.uses), capacity: 700)
        #expect(ratios.lru < 0.05 && ratios.ours > 0.85 * ratios.optimum)
    }

    @Test("on short traces of every kind the memory tier is close to the optimum, and never far below LRU")
    func shortTraces() {
        var all: [HitRatios] = []
        for trace in FrozenTrace.short(seed: 1_004) {
            let numbered = NumberedTrace(trace.uses)
            for capacity in trace.capacities {
                let ratios = HitRatios(of: numbered, capacity: capacity)
                #expect(ratios.ours > ratios.lru - 0.02, "\(trace.name), capacity \(capacity)")
                all.append(ratios)
            }
        }
        let mean = HitRatios(meanOf: all)
        #expect(mean.ours > 0.85 * mean.optimum)
    }

    @Test("the policies and the optimum behave as known on a trace that can be followed by hand")
    func byHand() {
        // An example of Belady's kind: three slots give ten misses under LRU for these keys, and seven at
        // best.
        let trace = NumberedTrace([1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5])
        #expect(hits(LeastRecentlyUsed.self, trace, 3) == 2)
        #expect(Optimum.hits(trace.uses, capacity: 3, keyCount: trace.keyCount) == 5)
        // The first key is used before its turn and stays. The second is evicted.
        let chance = NumberedTrace([1, 2, 1, 3, 1, 2])
        #expect(hits(Sieve.self, chance, 2) == 2)
    }

    @Test("no policy hits more often than the optimum, which equals an exhaustive search")
    func optimum() {
        var random = SeededNumbers(seed: 3)
        for _ in 0..<60 {
            let trace = NumberedTrace((0..<12).map { _ in random.below(5) })
            let best = Optimum.hits(trace.uses, capacity: 2, keyCount: trace.keyCount)
            #expect(best == exhaustiveOptimum(trace.uses[...], held: [], capacity: 2))
        }
    }

    private func hits<Policy: ReplacementPolicy>(_: Policy.Type, _ trace: NumberedTrace, _ capacity: Int)
        -> Int
    {
        var policy = Policy(capacity: capacity, keyCount: trace.keyCount)
        return trace.uses.count { policy.use($0) }
    }

    /// The most possible hits, by exhaustive search.
    private func exhaustiveOptimum(_ uses: ArraySlice<Int>, held: Set<Int>, capacity: Int) -> Int {
        guard let key = uses.first else { return 0 }
        let rest = uses.dropFirst()
        if held.contains(key) { return 1 + exhaustiveOptimum(rest, held: held, capacity: capacity) }
        if held.count < capacity {
            return exhaustiveOptimum(rest, held: held.union([key]), capacity: capacity)
        }
        let kept = held.map {
            exhaustiveOptimum(rest, held: held.subtracting([$0]).union([key]), capacity: capacity)
        }
        return max(exhaustiveOptimum(rest, held: held, capacity: capacity), kept.max() ?? 0)
    }
}
