extension FrozenTrace {
    /// A person's use of a list of films: up and down, jumps, filters.
    static var browsing: [FrozenTrace] {
        let sizes = [60, 150, 400]
        return [
            FrozenTrace("up and down", sizes) { maker in
                var list = Browsing(rows: Array(0..<800))
                for _ in 0..<900 { list.scroll(by: maker.below(80) - 38, &maker) }
            },
            FrozenTrace("to the end and back", sizes) { maker in
                var list = Browsing(rows: Array(0..<500))
                for _ in 0..<12 {
                    list.scroll(by: 490, &maker)
                    list.scroll(by: -490, &maker)
                }
            },
            FrozenTrace("jumps", sizes) { maker in
                var list = Browsing(rows: Array(0..<2_000))
                for _ in 0..<800 {
                    if maker.below(3) == 0 {
                        list.jump(to: maker.below(2) == 0 ? 0 : maker.below(2_000), &maker)
                    }
                    list.scroll(by: maker.below(60) - 20, &maker)
                }
            },
            FrozenTrace("filters", sizes) { maker in
                var list = Browsing(rows: Array(0..<1_500))
                for _ in 0..<250 {
                    let genre = maker.below(12)
                    var films = Browsing(rows: (0..<1_500).filter { $0 * 7_919 % 12 == genre })
                    for _ in 0..<(1 + maker.below(4)) { films.scroll(by: maker.below(60) - 15, &maker) }
                    list.show(&maker)
                    for _ in 0..<(1 + maker.below(4)) { list.scroll(by: maker.below(70) - 25, &maker) }
                }
            },
            FrozenTrace("everything", sizes) { maker in
                var list = Browsing(rows: Array(0..<1_200))
                for _ in 0..<600 {
                    switch maker.below(6) {
                    case 0: list.jump(to: maker.below(1_200), &maker)
                    case 1:
                        let genre = maker.below(9)
                        var films = Browsing(rows: (0..<1_200).filter { $0 * 7_919 % 9 == genre })
                        films.scroll(by: maker.below(80), &maker)
                    case 2: list.scroll(by: 200, &maker)
                    default: list.scroll(by: maker.below(100) - 45, &maker)
                    }
                }
            },
        ]
    }
}

/// A list on a screen of ten rows. A row is used when it comes onto the screen.
private struct Browsing {
    private static let screen = 10
    let rows: [Int]
    private var top = 0

    init(rows: [Int]) { self.rows = rows }

    func show(_ maker: inout TraceMaker) { maker.use(rows[top..<min(rows.count, top + Self.screen)]) }

    mutating func jump(to row: Int, _ maker: inout TraceMaker) {
        top = max(0, min(row, rows.count - Self.screen))
        show(&maker)
    }

    mutating func scroll(by distance: Int, _ maker: inout TraceMaker) {
        for _ in 0..<abs(distance) {
            if distance > 0, top + Self.screen < rows.count {
                maker.use(rows[top + Self.screen])
                top += 1
            } else if distance < 0, top > 0 {
                top -= 1
                maker.use(rows[top])
            }
        }
    }
}
