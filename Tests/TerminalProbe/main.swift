// A full-screen program for the tests of TerminalSession. It shows each event in a row of its own.
// Keys end it: q quits, x exits without leaving, t traps, a aborts, o overflows the stack, d exits while another thread
// draws.
// The key r asks for the terminal's features, whose answers may take an hour.
// Keys stop it: z suspends, s raises a signal, l leaves first and then raises one.

import Glibc
import Synchronization
import TerminalGraphics

/// Writes to the terminal from another thread until the process has ended.
enum Drawing {
    private static let writes = Atomic(0)

    static func begin(_ session: TerminalSession) {
        Task.detached {
            while true {
                try session.write(Array("drawn".utf8))
                writes.add(1, ordering: .sequentiallyConsistent)
            }
        }
        waitForTwoWrites()
    }

    /// Afterwards a write has begun and ended since the call.
    static func waitForTwoWrites() {
        let end = writes.load(ordering: .sequentiallyConsistent) + 2
        while writes.load(ordering: .sequentiallyConsistent) < end { sched_yield() }
    }
}

func overflow(_ depth: Int) -> Int {
    depth == .max ? 0 : overflow(depth + 1) + 1
}

func description(of event: TerminalEvent) -> String {
    guard case .key(let key) = event else { return "\(event)" }
    return key.modifiers.isEmpty ? "\(key.code)" : "\(key.modifiers.rawValue) \(key.code)"
}

/// Performs an event's key. Returns whether the whole screen must be redrawn.
func perform(_ event: TerminalEvent, _ session: TerminalSession) throws -> Bool {
    if event == .continued { return true }
    if event == .stopRequested {
        try session.suspend()
        return true
    }
    guard case .key(let key) = event, case .character(let letter) = key.code else { return false }
    switch letter {
    case "q":
        session.leave()
        exit(0)
    case "z":
        try session.suspend()
        return true
    case "s": kill(getpid(), SIGTSTP)
    case "l":
        session.leave()
        kill(getpid(), SIGTSTP)
        print("left")
        exit(0)
    case "r": try session.ask(TerminalAnswers.questions, limit: .seconds(3600))
    case "x": exit(4)
    case "d":
        Drawing.begin(session)
        exit(5)
    case "t": preconditionFailure("asked for")
    case "a": abort()
    case "o": exit(Int32(truncatingIfNeeded: overflow(0)))
    default: break
    }
    return false
}

// With the word inquire it is a program that prints lines, asks for the features and gives up at once.
if CommandLine.arguments.dropFirst().first == "inquire" {
    let answers = await TerminalInquiry.answers(limit: .milliseconds(1), lateLimit: .seconds(3600))
    print(answers?.isComplete == false ? "gave up" : "no terminal, or answers")
    await TerminalInquiry.end()
    exit(0)
}

do {
    if CommandLine.arguments.dropFirst().first == "draw" {
        // What is registered first is called last: the terminal is restored then.
        atexit { Drawing.waitForTwoWrites() }
    }
    let session = try TerminalSession()
    var input = TerminalInput(session)
    try session.enter()
    // Deletes a picture, as if one were shown.
    try session.setCleanup(Array("\u{1B}_Ga=d,d=I,i=7,q=2\u{1B}\\".utf8))
    var encoder = FrameEncoder(depth: .ansi16)
    var lines = ["ready"]
    while true {
        guard let size = session.size else { exit(1) }
        var grid = CellGrid(size: size.cells)
        lines = lines.suffix(size.cells.rows)
        for (row, line) in lines.enumerated() {
            grid.put(TerminalText.visible(line), at: CellPosition(column: 0, row: row))
        }
        try session.write(encoder.frame(grid))
        for event in input.next() {
            if event == .closed { exit(3) }
            if try perform(event, session) { encoder.invalidate() }
            lines.append(description(of: event))
        }
    }
} catch {
    print("failed: \(error)")
    exit(2)
}
