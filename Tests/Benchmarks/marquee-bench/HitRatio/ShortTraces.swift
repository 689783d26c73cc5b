extension FrozenTrace {
    /// Traces of a few thousand uses, for caches of a few hundred entries, which have little time to learn. Each seed
    /// gives different traces of the same kinds. No constant of the memory tier was tuned on them.
    static func short(seed: UInt64) -> [FrozenTrace] {
        [searches(seed), builds(seed), queries(seed), phases(seed), visits(seed)]
    }

    /// Searches of an index: each reads all its pages in order, and some pages twice in a row.
    private static func searches(_ seed: UInt64) -> FrozenTrace {
        FrozenTrace("searches", [300, 700], seed: seed) { maker in
            let pages = 900 + maker.below(300)
            for _ in 0..<5 {
                for page in 0..<pages {
                    maker.use(page)
                    if maker.below(40) == 0 { maker.use(page) }
                }
            }
        }
    }

    /// Builds of a program: its source files one after the other, each with some of the same few headers.
    private static func builds(_ seed: UInt64) -> FrozenTrace {
        FrozenTrace("builds", [300, 600], seed: seed) { maker in
            let lengths = (0..<110).map { _ in 3 + maker.below(12) }
            for _ in 0..<5 {
                var start = 1_000
                for length in lengths {
                    for _ in 0..<3 { maker.use(maker.below(40)) }
                    maker.use(start..<start + length)
                    start += length
                }
            }
        }
    }

    /// Popular keys, and scans over keys that are used once.
    private static func queries(_ seed: UInt64) -> FrozenTrace {
        FrozenTrace("queries", [300, 800], seed: seed) { maker in
            let popularity = Zipf(count: 2_500, skew: 0.8)
            for _ in 0..<10 {
                for _ in 0..<500 { maker.use(popularity.draw(&maker)) }
                for _ in 0..<200 { maker.useFresh() }
            }
        }
    }

    /// By turns a loop over more keys than fit, and a walk in which recent keys are used next.
    private static func phases(_ seed: UInt64) -> FrozenTrace {
        FrozenTrace("phases", [300, 600], seed: seed) { maker in
            for phase in 0..<3 {
                let length = 700 + maker.below(300)
                for _ in 0..<3 { maker.use(0..<length) }
                var position = 10_000 * (phase + 1)
                for _ in 0..<1_500 {
                    position += maker.below(5) - 1
                    maker.use(position - maker.below(60))
                }
            }
        }
    }

    /// Visits to a list of films: up and down, and sometimes back to the beginning.
    private static func visits(_ seed: UInt64) -> FrozenTrace {
        FrozenTrace("visits", [150, 300], seed: seed) { maker in
            var row = 0
            for _ in 0..<200 {
                if maker.below(12) == 0 { row = 0 }
                let distance = maker.below(70) - 30
                for _ in 0..<abs(distance) {
                    row = max(0, min(1_500, row + distance.signum()))
                    maker.use(row)
                }
            }
        }
    }
}
