import TerminalGraphics

/// How the selection and the films move.
extension BrowserState {
    /// Moves the selection at once, and scrolls the films as far as needed.
    mutating func move(_ rows: Int, now: Double) -> [Effect] {
        let target = list.selected + rows
        // On a wall, up and down stay in their column.
        guard abs(rows) == 1 || list.rows.indices.contains(target) else { return step(now: now) }
        list.select(target)
        return step(now: now)
    }

    mutating func step(now: Double) -> [Effect] {
        let target = layout.scroll(showing: list.selected, from: motion.destination, count: list.rows.count)
        return motion.step(to: target, now: now).map(Effect.motion)
    }

    /// Moves the selection far away and glides there.
    mutating func jump(to row: Int, now: Double) -> [Effect] {
        list.select(row)
        let target = layout.scroll(showing: list.selected, from: motion.destination, count: list.rows.count)
        return motion.glide(to: target, now: now).map(Effect.motion)
    }

    /// The wheel moves the films. The selection follows where it would leave the screen.
    mutating func scroll(_ direction: Int, now: Double) -> [Effect] {
        let maximum = layout.maximumScroll(count: list.rows.count)
        let lines = max(1, layout.item.rows / 2)
        let target = max(0, min(maximum, motion.destination + direction * lines))
        let changes = motion.step(to: target, now: now)
        let shown = layout.visible(scroll: target, count: list.rows.count)
        if !shown.contains(list.selected) {
            list.select(list.selected < shown.lowerBound ? shown.lowerBound : shown.upperBound - 1)
        }
        return changes.map(Effect.motion)
    }

    mutating func click(_ position: CellPosition) -> [Effect] {
        if let overlay {
            if overlay.hidesFilms { self.overlay = nil }
            return []
        }
        guard page == .films else {
            page = .films
            return [.rowsChanged]
        }
        if let film = layout.film, position.column >= film.poster.columns.lowerBound { return open() }
        guard let row = layout.row(at: position, scroll: motion.offset, count: list.rows.count) else {
            return []
        }
        if row == list.selected { return open() }
        list.select(row)
        return []
    }

    mutating func open() -> [Effect] {
        guard list.selectedMovie != nil else { return [] }
        page = .film
        filmTop = 0
        return motion.setOffset(motion.destination).map(Effect.motion) + [.rowsChanged]
    }

    /// Turns to another film's page. Many turns in a burst count as scrolling too.
    mutating func turn(_ rows: Int, now: Double) -> [Effect] {
        list.select(list.selected + rows)
        filmTop = 0
        return step(now: now)
    }

    mutating func filter(_ text: String) -> [Effect] {
        list.setFilter(text)
        return [.rowsChanged] + showSelection()
    }

    mutating func showSelection() -> [Effect] {
        let target = layout.scroll(showing: list.selected, from: motion.destination, count: list.rows.count)
        return motion.setOffset(target).map(Effect.motion)
    }
}
