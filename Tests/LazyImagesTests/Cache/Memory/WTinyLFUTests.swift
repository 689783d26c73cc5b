import Hashing
import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("W-TinyLFU", .bounded)
struct WTinyLFUTests {
    @Test("a scan of any length does not evict keys that were used more than once")
    func scanResistance() {
        var cache = Cache(limit: 100, windowShare: 0.01)
        for _ in 0..<3 { for key in 0..<80 { _ = cache.use(key) } }
        for key in 1_000..<9_000 { _ = cache.use(key) }
        let kept = (0..<80).count { cache.holds($0) }
        #expect(kept >= 75)
    }

    @Test("keys that were popular once give way to those that are popular now: counts age")
    func ageing() {
        var cache = Cache(limit: 100, windowShare: 0.01)
        for _ in 0..<10 { for key in 0..<100 { _ = cache.use(key) } }
        for _ in 0..<40 { for key in 200..<300 { _ = cache.use(key) } }
        #expect((200..<300).count { cache.holds($0) } > 80)
    }

    @Test("the limit bounds the sum of the costs, and a large entry needs its cost in room")
    func costs() {
        var cache = Cache(limit: 1_000, windowShare: 0.2)
        var random = SeededNumbers(seed: 2)
        for _ in 0..<5_000 {
            _ = cache.use(random.below(400), cost: 1 + random.below(60))
            #expect(cache.policy.cost <= 1_000)
        }
        #expect(cache.policy.cost > 900)
    }

    @Test(
        "a window that shrinks moves its entries to the main space; one that grows fills by use",
        arguments: [0.01, 1])
    func resizing(share: Double) {
        var cache = Cache(limit: 100, windowShare: share == 1 ? 0.01 : 1)
        for _ in 0..<3 { for key in 0..<100 { _ = cache.use(key) } }
        cache.policy.setWindow(share: share)
        // The loop does not fit. LRU holds nothing of it, W-TinyLFU most of it.
        var hits = 0
        for round in 0..<20 { for key in 200..<320 where cache.use(key) { if round > 9 { hits += 1 } } }
        #expect(share == 1 ? hits == 0 : hits > 800)
    }

    @Test("a window that shrinks keeps its entries: new keys do not evict them")
    func shrinking() {
        var cache = Cache(limit: 400, windowShare: 1)
        for key in 0..<400 { _ = cache.use(key) }
        cache.policy.setWindow(share: 0.01)
        for key in 1_000..<1_400 { _ = cache.use(key) }
        #expect((0..<400).count { cache.holds($0) } > 380)
    }

    @Test("a key that comes back does not evict one that was used as often and is due next")
    func useThatIsDue() {
        // LRU holds the second half of a loop after its first round.
        var cache = Cache(limit: 100, windowShare: 1)
        for key in 0..<200 { _ = cache.use(key) }
        cache.policy.setWindow(share: 0.01)
        for key in 0..<100 { _ = cache.use(key) }
        #expect((100..<200).count { cache.use($0) } > 75)
    }

    @Test("pinned entries block no eviction, and are evicted in their turn once unpinned")
    func pinning() {
        var cache = Cache(limit: 10, windowShare: 0.2)
        for key in 0..<10 { _ = cache.use(key) }
        for key in 0..<4 { cache.policy.pin(cache.policy.node(of: cache.digest(key))) }
        for key in 100..<200 { _ = cache.use(key) }
        #expect((0..<4).allSatisfy { cache.holds($0) } && cache.policy.count == 10)
        for key in 0..<4 { cache.policy.unpin(cache.policy.node(of: cache.digest(key))) }
        while cache.policy.removeNext(above: 0) != nil {}
        #expect(cache.policy.count == 0 && cache.policy.cost == 0)
    }

    @Test("a sketch counts up to 15, halves its counts, and keeps them when it grows")
    func sketch() {
        var sketch = FrequencySketch()
        let (often, once, never) = (Cache.digest(1), Cache.digest(2), Cache.digest(3))
        for _ in 0..<40 { sketch.add(often) }
        sketch.add(once)
        #expect(sketch.frequency(of: often) == 15 && sketch.frequency(of: once) == 1)
        for _ in 0..<6 { sketch.grow() }
        #expect(sketch.frequency(of: often) == 15 && sketch.frequency(of: once) == 1)
        #expect(sketch.frequency(of: never) == 0)
        for number in 0..<10 * sketch.capacity { sketch.add(Cache.digest(1_000 + number)) }
        #expect((4...9).contains(sketch.frequency(of: often)))
    }

    @Test(
        "the trials choose a small window for a loop that does not fit, and LRU for one that does"
    )
    func trials() {
        var (trials, sketch) = (WindowTrials(limit: 100), FrequencySketch())
        func use(_ keys: Range<Int>, rounds: Int) {
            for _ in 0..<rounds {
                for key in keys {
                    sketch.add(Cache.digest(key))
                    _ = trials.use(Cache.digest(key), cost: 1, sketch)
                }
            }
        }
        #expect(trials.share == 1)
        use(0..<130, rounds: 20)
        #expect(trials.share < 0.1)
        // A short loop that keeps moving: only the latest keys are used again.
        for start in 0..<400 { use(1_000 + 20 * start..<1_000 + 20 * start + 90, rounds: 1) }
        #expect(trials.share >= 0.8)
    }

    @Test("a large cache starts with a small window once full, unless no key or nearly every key came back")
    func guess() {
        func share(entries: Int, hits: Int, uses: Int) -> Double {
            var trials = WindowTrials(limit: 100_000)
            trials.start(entries: entries, hits: hits, uses: uses)
            return trials.share
        }
        #expect(share(entries: 500, hits: 100, uses: 600) == 0.2)
        #expect(share(entries: 500, hits: 0, uses: 500) == 1)
        #expect(share(entries: 500, hits: 1_500, uses: 2_000) == 1)
        #expect(share(entries: 100, hits: 50, uses: 150) == 1)
    }

    @Test("a wrong guess is given up sooner than a window that the trials found")
    func wrongGuess() {
        func usesUntilLRU(isGuessed: Bool) -> Int {
            var (trials, sketch) = (WindowTrials(limit: 300), FrequencySketch())
            func use(_ key: Int) {
                sketch.add(Cache.digest(key))
                _ = trials.use(Cache.digest(key), cost: 1, sketch)
            }
            if isGuessed {
                trials.start(entries: 300, hits: 1, uses: 301)
            } else {
                for _ in 0..<3 { for key in 0..<400 { use(key) } }
            }
            #expect(trials.share < 1)
            // Only the latest keys are used again.
            for number in 0..<20_000 {
                use(10_000 + number / 3 - (number % 3) * 40)
                if trials.isPlainLRU { return number }
            }
            return .max
        }
        #expect(usesUntilLRU(isGuessed: true) * 2 < usesUntilLRU(isGuessed: false))
    }

    @Test("the trials pause while every trial holds all used keys, until a new key is stored")
    func restingTrials() {
        var (trials, sketch) = (WindowTrials(limit: 300), FrequencySketch())
        func isSeen(_ key: Int) -> Bool {
            let digest = Cache.digest(key)
            guard trials.samples(digest) else { return false }
            _ = trials.use(digest, cost: 1, sketch)
            return true
        }
        for _ in 0..<10 { for key in 0..<200 { _ = isSeen(key) } }
        #expect((0..<200).allSatisfy { !isSeen($0) })
        trials.wake()
        #expect(isSeen(200), "the new key")
        #expect((0..<200).allSatisfy(isSeen))
        // The smallest window holds nothing of this loop, so one trial always misses.
        for _ in 0..<10 { for key in 0..<1_000 { _ = isSeen(key) } }
        #expect((0..<1_000).allSatisfy(isSeen))
    }

    @Test("in a large cache the trials see a sample, and still find the window that a loop needs")
    func sampledTrials() {
        var (trials, sketch) = (WindowTrials(limit: 4_000), FrequencySketch())
        for _ in 0..<7 { sketch.grow() }
        var seen = 0
        for _ in 0..<8 {
            for key in 0..<5_000 {
                let digest = Cache.digest(key)
                sketch.add(digest)
                guard trials.samples(digest) else { continue }
                seen += 1
                _ = trials.use(digest, cost: 1, sketch)
            }
        }
        #expect(seen < 20_000 && trials.share < 0.5)
    }
}

/// The policy over keys without values.
private struct Cache {
    var policy: WTinyLFU
    var sketch = FrequencySketch()

    init(limit: Int, windowShare: Double) { policy = WTinyLFU(limit: limit, windowShare: windowShare) }

    static func digest(_ key: Int) -> SHA256.Digest {
        var numbers = SeededNumbers(seed: UInt64(key))
        return SHA256.Digest(
            first: numbers.next(), second: numbers.next(), third: numbers.next(), fourth: numbers.next())
    }

    func digest(_ key: Int) -> SHA256.Digest { Self.digest(key) }

    func holds(_ key: Int) -> Bool { policy.node(of: digest(key)) != WTinyLFU.none }

    mutating func use(_ key: Int, cost: Int = 1) -> Bool {
        let digest = digest(key)
        sketch.add(digest)
        let node = policy.node(of: digest)
        if node != WTinyLFU.none {
            policy.use(node)
            return true
        }
        _ = policy.add(digest, cost: cost)
        if policy.count > sketch.capacity { sketch.grow() }
        while policy.removeNext(sketch) != nil {}
        return false
    }
}
