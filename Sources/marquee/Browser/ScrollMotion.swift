/// How the films move under the keys: at rest, in a burst of key presses, or gliding to where a page key sent them. A plain
/// struct that is told the time, in seconds of any clock.
struct ScrollMotion {
    /// Presses that follow each other within this time are one burst, and it has ended when none came for so long.
    static let burstPause = 0.120
    /// A glide's length, and the time between its frames.
    static let glideTime = 0.130
    static let frameTime = 0.016

    /// What a press or the passing of time changes for whoever loads.
    enum Change: Equatable {
        case beganDragging
        case endedDragging
        case beganGliding
        case endedGliding
    }

    private struct Glide {
        let start: Int
        let end: Int
        let began: Double
    }

    /// Lines of the films above the first one shown.
    private(set) var offset = 0
    private(set) var isDragging = false
    private var glide: Glide?
    private var lastPress = -Double.infinity

    var isGliding: Bool { glide != nil }

    /// Where the offset will be when nothing more is pressed.
    var destination: Int { glide?.end ?? offset }

    /// Moves at once, as an arrow key or the wheel does. The second press within a burst's pause begins a drag.
    mutating func step(to target: Int, now: Double) -> [Change] {
        var changes = endGlide()
        if now - lastPress < Self.burstPause, !isDragging {
            isDragging = true
            changes.append(.beganDragging)
        }
        lastPress = now
        offset = target
        return changes
    }

    /// Glides there over a few frames, as a page key does.
    mutating func glide(to target: Int, now: Double) -> [Change] {
        var changes: [Change] = []
        if isDragging {
            isDragging = false
            changes.append(.endedDragging)
        }
        lastPress = -.infinity
        guard target != offset else { return changes + endGlide() }
        if glide == nil { changes.append(.beganGliding) }
        glide = Glide(start: offset, end: target, began: now)
        return changes
    }

    /// Sets the offset without a motion: after a resize, a filter, a sort.
    mutating func setOffset(_ target: Int) -> [Change] {
        let changes = endGlide()
        offset = target
        return changes
    }

    /// Moves a glide on and ends a burst, as the time says.
    mutating func advance(now: Double) -> [Change] {
        var changes: [Change] = []
        if isDragging, now - lastPress >= Self.burstPause {
            isDragging = false
            changes.append(.endedDragging)
        }
        if let glide {
            let part = min(1, max(0, (now - glide.began) / Self.glideTime))
            // Slows down towards the end: 1 - (1 - t)³.
            let eased = 1 - (1 - part) * (1 - part) * (1 - part)
            offset = glide.start + Int((Double(glide.end - glide.start) * eased).rounded())
            if part >= 1 { changes += endGlide() }
        }
        return changes
    }

    /// When `advance` has something to do next; nil at rest.
    func nextDeadline(now: Double) -> Double? {
        let burst = isDragging ? lastPress + Self.burstPause : nil
        let frame = glide == nil ? nil : now + Self.frameTime
        return [burst, frame].compactMap(\.self).min()
    }

    private mutating func endGlide() -> [Change] {
        guard let ended = glide else { return [] }
        offset = ended.end
        glide = nil
        return [.endedGliding]
    }
}
