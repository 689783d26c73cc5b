/// The visible rows and the page ahead, as ranges of rows.
struct RowSpan: Equatable {
    /// The last direction of scrolling: towards the end of the list or towards its beginning.
    enum Direction {
        case forward, backward
    }

    /// How many rows the list has.
    private(set) var count = 0
    /// The rows on the screen.
    private(set) var visible = 0..<0
    /// The row that a person looks at; nil if none is known.
    private(set) var focus: Int?
    private(set) var direction = Direction.forward

    /// The page ahead in the direction of scrolling: as many rows as are visible, fewer at the end of the list.
    var ahead: Range<Int> {
        switch direction {
        case .forward: visible.upperBound..<min(visible.upperBound + visible.count, count)
        case .backward: max(visible.lowerBound - visible.count, 0)..<visible.lowerBound
        }
    }

    /// The rows of the page ahead, the nearest first.
    var aheadNearestFirst: [Int] {
        direction == .forward ? Array(ahead) : ahead.reversed()
    }

    /// The visible rows, those nearest the focus first, or nearest the middle if the focus is not visible. Of two
    /// equally near rows the upper one comes first.
    var visibleNearestFirst: [Int] {
        guard !visible.isEmpty else { return [] }
        // Doubled, since the middle may lie between two rows.
        var middle = visible.lowerBound + visible.upperBound - 1
        if let focus, visible.contains(focus) { middle = 2 * focus }
        var above = middle / 2
        var below = above + 1
        var rows: [Int] = []
        rows.reserveCapacity(visible.count)
        while rows.count < visible.count {
            if above >= visible.lowerBound,
                below >= visible.upperBound || middle - 2 * above <= 2 * below - middle
            {
                rows.append(above)
                above -= 1
            } else {
                rows.append(below)
                below += 1
            }
        }
        return rows
    }

    /// Makes other rows visible. Ignores rows outside the list.
    mutating func show(_ rows: Range<Int>, focus: Int?) {
        let rows = rows.clamped(to: 0..<count)
        // A range that only grows or shrinks at its end is a resized screen, not scrolling.
        if rows.lowerBound != visible.lowerBound {
            direction = rows.lowerBound > visible.lowerBound ? .forward : .backward
        }
        visible = rows
        self.focus = focus
    }

    /// Replaces the list and its visible rows. The direction stays.
    mutating func replace(count: Int, visible: Range<Int>, focus: Int?) {
        self.focus = focus
        self.count = count
        self.visible = visible.clamped(to: 0..<count)
    }
}
