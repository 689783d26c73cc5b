internal import CSystem
internal import Glibc
package import ImageCodecs
internal import SystemSupport

/// What a terminal says of itself when it is asked.
///
///     ESC P > | kitty(0.41.1) ESC \     XTVERSION: its name
///     ESC _ G i=31;OK ESC \             it takes kitty's pictures
///     ESC [ 6 ; 17 ; 8 t                the pixels of a cell: height, width
///     ESC [ ? 62 ; 4 c                  DA1, which every terminal knows; 4 is sixel
///
/// The answers come in the order of the questions, so that DA1 is the last.
package struct TerminalAnswers: Sendable, Equatable {
    /// Its name, as in XTVERSION.
    package private(set) var name: String?
    /// Whether it takes kitty's pictures.
    package private(set) var takesKitty = false
    /// Whether it shows sixels.
    package private(set) var showsSixel = false
    /// The pixels of a cell.
    package private(set) var cell: ImageSize?
    /// Whether the last answer has come.
    package private(set) var isComplete = false

    /// No answer.
    package init() {}

    /// The questions, for one write.
    package static let questions =
        TerminalVersion.query + Array("\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[16t\u{1B}[c".utf8)

    /// Takes one answer, whole; any other sequence is none.
    package mutating func take(_ answer: [UInt8]) {
        let text = String(decoding: answer, as: UTF8.self)
        func body(between start: String, and end: String) -> Substring? {
            text.hasPrefix(start) && text.hasSuffix(end) && text.count >= start.count + end.count
                ? text.dropFirst(start.count).dropLast(end.count) : nil
        }
        if let name = TerminalVersion.name(in: answer) {
            self.name = name
        } else if body(between: "\u{1B}_Gi=31;", and: "\u{1B}\\") == "OK" {
            takesKitty = true
        } else if let numbers = body(between: "\u{1B}[6;", and: "t")?.split(separator: ";").map({ Int($0) }),
            numbers.count == 2, let height = numbers[0], let width = numbers[1],
            Self.cellSides.contains(height), Self.cellSides.contains(width)
        {
            cell = ImageSize(width: width, height: height)
        } else if let attributes = body(between: "\u{1B}[?", and: "c")?.split(separator: ";") {
            showsSixel = attributes.dropFirst().contains("4")
            isComplete = true
        }
    }

    /// What the sides of a cell may be, in pixels: others are no truth.
    private static let cellSides = 2...200

    /// How the terminal draws pictures best; nil where it shows no pixels, or has not said so.
    package var graphics: GraphicsMode? {
        // These say nothing of their own protocol but their name.
        if let name, ["iTerm2", "WezTerm"].contains(name) { return .iterm2 }
        return takesKitty ? .kitty : showsSixel ? .sixel : nil
    }

    /// Whether the terminal is known to show 24-bit colours.
    package var showsTrueColour: Bool { name.map(TerminalVersion.showsTrueColour) ?? false }
}

extension TerminalAnswers {
    /// Asks the process's terminal, in raw mode, and waits for the last answer, at most so many milliseconds. Keys typed
    /// meanwhile are put back, to be read by whoever reads next.
    ///
    /// Nil where there is no terminal, or it is another process group's. Blocks: not for the cooperative pool.
    package static func asked(path: String = "/dev/tty", limit: Int) -> TerminalAnswers? {
        do {
            let session = try TerminalSession(modes: .plain, path: path)
            guard tcgetpgrp(session.descriptor) == getpgrp() else { return nil }
            try session.enter()
            defer { session.leave() }
            var sorter = AnswerSorter()
            try session.write(questions)
            let deadline = ContinuousClock.now + .milliseconds(limit)
            while !sorter.answers.isComplete, let bytes = session.read(until: deadline) { sorter.take(bytes) }
            session.leave()
            session.putBack(sorter.keys)
            return sorter.answers
        } catch {
            // A terminal that is gone fails at the next write too, with a word.
            return nil
        }
    }
}

/// Parts what a terminal answers from what its user types meanwhile.
struct AnswerSorter {
    private(set) var answers = TerminalAnswers()
    /// The bytes of keys, the mouse and pastes, as they came.
    private(set) var keys: [UInt8] = []
    private var parser = InputParser()
    /// Bytes that are no event yet.
    private var pending: [UInt8] = []

    mutating func take(_ bytes: [UInt8]) {
        for byte in bytes {
            pending.append(byte)
            let events = parser.feed(CollectionOfOne(byte))
            guard let event = events.last else { continue }
            if case .answer(let answer) = event {
                keys += pending.dropLast(answer.count)
                pending = []
                answers.take(answer)
            } else if byte == 0x1B {
                // The Escape key, since the beginning of another sequence has followed.
                keys += pending.dropLast()
                pending = [byte]
            } else {
                keys += pending
                pending = []
            }
        }
    }
}

extension TerminalSession {
    /// What there is to read, as soon as there is something; nil when the time is over or the terminal gone.
    fileprivate func read(until deadline: ContinuousClock.Instant) -> [UInt8]? {
        guard Polling.ready([(descriptor, POLLIN)], until: deadline) == [true] else { return nil }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = unsafe max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Puts keys back that were read. Where the kernel refuses that they are lost, but for Ctrl-C, which then is a signal.
    fileprivate func putBack(_ keys: [UInt8]) {
        guard !keys.isEmpty else { return }
        let result = unsafe keys.withUnsafeBytes {
            unsafe csystem_terminal_type(descriptor, $0.baseAddress, $0.count)
        }
        if result != 0, keys.contains(0x03) { kill(getpid(), SIGINT) }
    }
}
