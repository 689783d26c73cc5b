import LazyImages

/// How the films move: at rest, in a burst of key presses, or gliding after a page key. A plain struct that gets the
/// time from its caller, in seconds of any clock.
package struct ScrollMotion {
    /// Two presses within this time belong to one burst. The burst ends after this time without a press.
    static let burstPause = 0.120
    /// The length of a glide; and the time between its frames.
    private static let glideTime = 0.130
    private static let frameTime = 0.016

    private struct Glide {
        let start: Int
        let end: Int
        let began: Double
    }

    /// The number of lines that the films are scrolled by.
    private(set) var offset = 0
    package private(set) var isDragging = false
    private var glide: Glide?
    private var lastPress = -Double.infinity

    package var isGliding: Bool { glide != nil }

    /// The offset after the motion has ended.
    var destination: Int { glide?.end ?? offset }

    /// Moves at once, after an arrow key or the wheel. A second press within `burstPause` begins a drag.
    mutating func step(to target: Int, now: Double) -> [ScrollPhase] {
        var changes = endGlide()
        if now - lastPress < Self.burstPause, !isDragging {
            isDragging = true
            changes.append(.dragging)
        }
        lastPress = now
        offset = target
        return changes
    }

    /// Glides to the target over a few frames, after a page key.
    mutating func glide(to target: Int, now: Double) -> [ScrollPhase] {
        var changes: [ScrollPhase] = []
        if isDragging {
            isDragging = false
            changes.append(.idle)
        }
        lastPress = -.infinity
        guard target != offset else { return changes + endGlide() }
        if glide == nil { changes.append(.decelerating) }
        glide = Glide(start: offset, end: target, began: now)
        return changes
    }

    /// Sets the offset without motion: after a resize, a filter or a sort.
    mutating func setOffset(_ target: Int) -> [ScrollPhase] {
        let changes = endGlide()
        offset = target
        return changes
    }

    /// Moves a glide on, or ends a burst, according to the time.
    mutating func advance(now: Double) -> [ScrollPhase] {
        var changes: [ScrollPhase] = []
        if isDragging, now - lastPress >= Self.burstPause {
            isDragging = false
            changes.append(.idle)
        }
        if let glide {
            let part = min(1, max(0, (now - glide.began) / Self.glideTime))
            // Ease out: 1 - (1 - t)³.
            let eased = 1 - (1 - part) * (1 - part) * (1 - part)
            offset = glide.start + Int((Double(glide.end - glide.start) * eased).rounded())
            if part >= 1 { changes += endGlide() }
        }
        return changes
    }

    /// When `advance` has something to do next; nil at rest.
    package func nextDeadline(now: Double) -> Double? {
        let burst = isDragging ? lastPress + Self.burstPause : nil
        let frame = glide == nil ? nil : now + Self.frameTime
        return [burst, frame].compactMap(\.self).min()
    }

    private mutating func endGlide() -> [ScrollPhase] {
        guard let ended = glide else { return [] }
        offset = ended.end
        glide = nil
        return [.idle]
    }
}
