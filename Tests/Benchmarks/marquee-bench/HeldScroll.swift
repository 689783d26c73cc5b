import CatalogueService
import Foundation
import TestSupport

/// One run of the browser, and its measurements.
struct HeldScroll {
    private static let down = "\u{1B}[B"
    private static let up = "\u{1B}[A"
    private static let pressesAtOnce = 100
    private static let singlePresses = 20
    /// The private mode that is set while a frame is written.
    private static let synchronizedOutput = 2026
    /// The browser's pause that ends a burst, in seconds.
    private static let burstPause = 0.120

    /// The cost of frames.
    struct Cost {
        var frames = 0
        var bytes = 0
        var processorTime = 0.0

        static func + (one: Cost, other: Cost) -> Cost {
            Cost(
                frames: one.frames + other.frames, bytes: one.bytes + other.bytes,
                processorTime: one.processorTime + other.processorTime)
        }
        var milliseconds: Double { processorTime / Double(frames) * 1000 }
        var bytesAFrame: Double { Double(bytes) / Double(frames) }
    }

    private(set) var cost = Cost()
    private(set) var costInMemory = Cost()
    private(set) var loadsWhileHeld = 0
    private(set) var longestGap = 0.0
    private(set) var startTimes: [Double] = []
    private(set) var pictureTimes: [Double] = []
    /// The peak memory in bytes.
    private(set) var memory = 0.0
    private(set) var highWaterMark = 0.0

    private let service: CatalogueService
    private let terminal: PseudoTerminal
    private let films: Int
    private var selected = 1
    private var lastPress = ContinuousClock.now

    init(
        _ service: CatalogueService, films: Int, cache: String, memory: Int, columns: Int, lines: Int
    ) throws {
        self.service = service
        self.films = films
        terminal = try PseudoTerminal(
            try Program.path("marquee"),
            [
                "--catalogue", "http://127.0.0.1:\(service.port)/movies.json", "--cache-dir", cache,
                "--memory-size", "\(memory)M", "--graphics", "blocks",
            ],
            environment: ["COLORTERM": "truecolor"], columns: columns, rows: lines)
    }

    /// Holds the key for this many presses in bursts, presses it a few times singly, and quits.
    mutating func scroll(presses: Int) throws {
        // The figures show what is loading.
        terminal.type("i")
        for first in stride(from: 0, to: presses, by: Self.pressesAtOnce) {
            cost = try cost + hold(min(Self.pressesAtOnce, presses - first))
            pictureTimes.append(Self.seconds(since: lastPress) - Self.burstPause)
            memory = max(memory, try memory("RssAnon"))
        }
        for _ in 0..<Self.singlePresses { try pressOnce() }
        _ = try hold(Self.singlePresses, step: -1)
        for step in [1, -1, 1, -1, 1] {
            costInMemory = try costInMemory + hold(Self.singlePresses, step: step)
        }
        highWaterMark = try memory("VmHWM")
        terminal.type("q")
        guard terminal.waitForEnd() == .exited(0) else {
            throw BenchmarkFailure(description: "the browser did not end in order")
        }
    }

    /// One burst, and the rest after it until all pictures are shown.
    private mutating func hold(_ presses: Int, step: Int = 1) throws -> Cost {
        try wait("a screen at rest") { [self] in isAtRest($0) }
        let requests = service.statistics.requests
        let frames = terminal.screen.frames
        let bytes = terminal.output.count
        let time = try processorTimeNow()
        let key = step > 0 ? Self.down : Self.up
        // Two at once: the first alone would be a single press, which may load.
        terminal.type(key + key)
        lastPress = .now
        selected += 2 * step
        try waitForSelection()
        for _ in 2..<max(2, presses) {
            longestGap = max(longestGap, Self.seconds(since: lastPress))
            lastPress = .now
            terminal.type(key)
            selected += step
            try waitForSelection()
        }
        let cost = Cost(
            frames: terminal.screen.frames - frames, bytes: terminal.output.count - bytes,
            processorTime: try processorTimeNow() - time)
        loadsWhileHeld += service.statistics.requests - requests
        try wait("the pictures after a burst") { [self] in isAtRest($0) }
        return cost
    }

    private mutating func pressOnce() throws {
        try wait("a screen at rest") { [self] in isAtRest($0) }
        // Waits until the last burst has ended, so that this press does not join it.
        while Self.seconds(since: lastPress) < 2 * Self.burstPause { poll(nil, 0, 10) }
        let requests = service.statistics.requests
        lastPress = .now
        terminal.type(Self.down)
        selected += 1
        while service.statistics.requests == requests, Self.seconds(since: lastPress) < 1 { sched_yield() }
        startTimes.append(Self.seconds(since: lastPress))
        try waitForSelection()
    }

    // MARK: What is on the screen

    private func waitForSelection() throws {
        try wait("film \(selected)") { [self] in $0.text(ofRow: 0).hasSuffix(" \(selected)/\(films)") }
    }

    /// The films are here, no poster is loading, and no visible poster is missing.
    private func isAtRest(_ screen: VirtualScreen) -> Bool {
        let status = screen.text(ofRow: screen.size.rows - 1)
        return screen.text(ofRow: 0).hasSuffix("/\(films)") && status.contains(" 0 loading ")
            && status.contains(" 0 deferred ") && isWithoutCard(screen)
    }

    /// Only the cards in place of posters have such corners in the browser, in the list and beside it.
    private func isWithoutCard(_ screen: VirtualScreen) -> Bool {
        (1..<screen.size.rows - 1).allSatisfy { row in
            !screen.text(ofRow: row).contains { "╭╰".contains($0) }
        }
    }

    private func wait(_ what: String, until isReached: (VirtualScreen) -> Bool) throws {
        // Only whole frames count. An unread rest of a frame would keep the browser from reading its next key.
        let isWholeAndReached = { !$0.modes.contains(Self.synchronizedOutput) && isReached($0) }
        guard terminal.waits(seconds: 30, until: isWholeAndReached) else {
            throw BenchmarkFailure(
                description: "waited in vain for \(what):\n" + terminal.screen.rows.joined(separator: "\n"))
        }
    }

    // MARK: What the system says

    /// The processor time of all threads of the browser, in seconds.
    private func processorTimeNow() throws -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(terminal.process, &clock) == 0,
            unsafe clock_gettime(clock, &time) == 0
        else {
            throw BenchmarkFailure(description: "the system does not tell the browser's processor time")
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// A line of the browser's status, in bytes.
    private func memory(_ name: String) throws -> Double {
        Double(try PeakMemory.kibibytes(name, of: "\(terminal.process)")) * 1024
    }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        start.duration(to: .now) / .seconds(1)
    }
}
