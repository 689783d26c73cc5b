/// A trace of uses, and the cache sizes to try it with.
struct FrozenTrace {
    let name: String
    let capacities: [Int]
    let uses: [Int]

    init(_ name: String, _ capacities: [Int], seed: UInt64 = 1, _ make: (inout TraceMaker) -> Void) {
        self.name = name
        self.capacities = capacities
        var maker = TraceMaker(seed: seed)
        make(&maker)
        uses = maker.uses
    }
}

extension FrozenTrace {
    /// Loops, scans, zigzags and web use.
    static var general: [FrozenTrace] { [loop, nestedLoops, scannedHotSet, zigzag, web, driftingWeb] }

    /// Other uses of caches: files, databases, use that depends on recent use, and a mixture.
    static var others: [FrozenTrace] {
        [sourceFiles, twoPools, joins, recency, shiftingRecency, mixture]
    }

    /// A list that is read from beginning to end repeatedly.
    private static var loop: FrozenTrace {
        FrozenTrace("loop", [100, 400, 800]) { maker in
            for _ in 0..<80 { maker.use(0..<1_000) }
        }
    }

    /// Short loops within a long one.
    private static var nestedLoops: FrozenTrace {
        FrozenTrace("nested loops", [150, 400]) { maker in
            for _ in 0..<30 {
                for part in 0..<10 { for _ in 0..<3 { maker.use(part * 80..<(part + 1) * 80) } }
            }
        }
    }

    /// Files of several lengths, read from beginning to end, some of them often.
    private static var sourceFiles: FrozenTrace {
        FrozenTrace("source files", [100, 400, 1_000]) { maker in
            var starts = [0]
            for _ in 0..<120 { starts.append((starts.last ?? 0) + 3 + maker.below(40)) }
            let popularity = Zipf(count: 120, skew: 0.7)
            for _ in 0..<1_500 {
                let file = popularity.draw(&maker)
                maker.use(starts[file]..<starts[file + 1])
            }
        }
    }

    /// A list read forwards and backwards.
    private static var zigzag: FrozenTrace {
        FrozenTrace("zigzag", [100, 400, 800]) { maker in
            for _ in 0..<20 {
                maker.use(0..<1_000)
                maker.use((0..<1_000).reversed())
            }
        }
    }

    /// By turns a page of a small index and a page of much data (as in O'Neil, O'Neil, Weikum 1993).
    private static var twoPools: FrozenTrace {
        FrozenTrace("two pools", [80, 150, 500]) { maker in
            for _ in 0..<30_000 {
                maker.use(maker.below(100))
                maker.use(100 + maker.below(10_000))
            }
        }
    }

    /// Popular keys, and now and then a scan over keys that are used once.
    private static var scannedHotSet: FrozenTrace {
        FrozenTrace("scans", [100, 300, 1_000]) { maker in
            let popularity = Zipf(count: 2_000, skew: 0.9)
            for _ in 0..<50 {
                for _ in 0..<1_500 { maker.use(popularity.draw(&maker)) }
                for _ in 0..<1_000 { maker.useFresh() }
            }
        }
    }

    /// An outer table read once, an inner table read in loops, and an index.
    private static var joins: FrozenTrace {
        FrozenTrace("joins", [100, 300, 600]) { maker in
            for query in 0..<6 {
                let inner = 10_000 * (query % 3) + 1_000
                for row in 0..<40 {
                    maker.use(100_000 * (query + 1) + row)
                    for page in 0..<150 {
                        maker.use(maker.below(30))
                        if page % 2 == 0 { maker.use(inner + page * 3) }
                    }
                }
            }
        }
    }

    /// Recently used keys are used next.
    private static var recency: FrozenTrace {
        FrozenTrace("recency", [100, 400, 1_000]) { maker in
            recent(&maker, uses: 50_000, newShare: 0.12, skew: 1.1)
        }
    }

    /// The same, with loops in between.
    private static var shiftingRecency: FrozenTrace {
        FrozenTrace("recency and loops", [200, 500]) { maker in
            for _ in 0..<4 {
                recent(&maker, uses: 12_000, newShare: 0.15, skew: 1.1)
                for _ in 0..<12 { maker.use(0..<800) }
            }
        }
    }

    private static func recent(_ maker: inout TraceMaker, uses: Int, newShare: Double, skew: Double) {
        let depths = Zipf(count: 3_000, skew: skew)
        // The most recently used key is last.
        var stack: [Int] = []
        for _ in 0..<uses {
            let depth = depths.draw(&maker)
            if maker.fraction() < newShare || depth >= stack.count {
                maker.useFresh()
                stack.append(maker.freshKey - 1)
            } else {
                let key = stack.remove(at: stack.count - 1 - depth)
                maker.use(key)
                stack.append(key)
            }
            if stack.count > 3_000 { stack.removeFirst(500) }
        }
    }

    /// Zipf's law, and a tenth of keys that are used once.
    private static var web: FrozenTrace {
        FrozenTrace("web", [100, 500, 2_000]) { maker in
            let popularity = Zipf(count: 10_000, skew: 1)
            for _ in 0..<150_000 {
                if maker.below(10) == 0 { maker.useFresh() } else { maker.use(popularity.draw(&maker)) }
            }
        }
    }

    /// The popular keys change with time.
    private static var driftingWeb: FrozenTrace {
        FrozenTrace("drifting web", [100, 500, 2_000]) { maker in
            let popularity = Zipf(count: 10_000, skew: 1)
            for time in 0..<60_000 {
                let rank = popularity.draw(&maker)
                // A key keeps its rank for a while; the popular ones change first.
                maker.use(rank * 1_000 + time / (2_000 + 40 * rank))
            }
        }
    }

    /// Loops, scans and popular keys, one after the other and then all at once.
    private static var mixture: FrozenTrace {
        FrozenTrace("mixture", [200, 800]) { maker in
            let popularity = Zipf(count: 1_500, skew: 0.9)
            var position = 0
            for time in 0..<60_000 {
                switch maker.below(4) {
                case 0:
                    maker.use(10_000 + position)
                    position = (position + 1) % 700
                case 1 where time % 10_000 > 6_000: maker.useFresh()
                default: maker.use(popularity.draw(&maker))
                }
            }
        }
    }
}
