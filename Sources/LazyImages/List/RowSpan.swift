/// Which rows are on the screen, and which come next: nothing but ranges.
struct RowSpan: Equatable {
    /// Where the list was last seen to travel: towards its end or towards its beginning.
    enum Direction {
        case forward, backward
    }

    /// How many rows the list has.
    private(set) var count = 0
    /// The rows on the screen.
    private(set) var visible = 0..<0
    private(set) var direction = Direction.forward

    /// The page that comes next in the direction of travel: as many rows as are visible, fewer at the end of the list.
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

    /// The visible rows, those nearest the middle first; of two as near, the one above.
    var visibleMiddleFirst: [Int] {
        guard !visible.isEmpty else { return [] }
        // Twice the middle, which may lie between two rows.
        let middle = visible.lowerBound + visible.upperBound - 1
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

    /// Moves to other rows. What lies outside the list is cut off.
    mutating func show(_ rows: Range<Int>) {
        let rows = rows.clamped(to: 0..<count)
        // A range that only grows or shrinks at its end is a resized screen and no travel.
        if rows.lowerBound != visible.lowerBound {
            direction = rows.lowerBound > visible.lowerBound ? .forward : .backward
        }
        visible = rows
    }

    /// Takes up another list, of which other rows are visible. That is no travel.
    mutating func replace(count: Int, visible: Range<Int>) {
        self.count = count
        self.visible = visible.clamped(to: 0..<count)
    }
}
