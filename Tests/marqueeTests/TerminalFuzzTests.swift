import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

/// Terminals whose answers are late, truncated, repeated, wrong or malicious.
@Suite("Hostile terminals", .bounded, .ownThread)
struct TerminalFuzzTests {
    private static let count = Rounds.count(12, many: 48)

    /// A command that reads the terminal next, as a shell does. Like an interactive shell it outlives a Ctrl-C, which
    /// may come again while the program ends. The keys of a hostile terminal may export films: into a folder of the test.
    private static let shell = """
        cd "$FOLDER" || exit; trap : INT; "$MARQUEE" "$@"; echo "ended with $?"; until IFS= read -r line; do :; done; printf %s "$line" | od -An -v -tx1; echo over
        """
    private static let canPutBack: Bool = {
        let setting = FileManager.default.contents(atPath: "/proc/sys/dev/tty/legacy_tiocsti")
        return setting.map { $0.first == UInt8(ascii: "1") } ?? true
    }()

    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func started(_ words: [String], typedAhead: [UInt8] = []) throws -> PseudoTerminal {
        try PseudoTerminal(
            "/bin/sh", ["-c", Self.shell, "sh"] + words,
            environment: fixture.environment.merging(
                ["MARQUEE": BuiltProgram.path("marquee"), "FOLDER": fixture.home.path]) { $1 },
            rows: 60, typedAhead: typedAhead)
    }

    /// The bytes that the shell read after the program's end and a typed line.
    private func left(_ terminal: PseudoTerminal) throws -> [UInt8] {
        try terminal.type("!\n") { $0.row(containing: "over") != nil }
        let rows = terminal.screen.rows
        let first = try #require(rows.firstIndex { $0.hasPrefix("ended with") })
        let dump = rows[(first + 1)...].prefix { $0 != "over" }.filter { $0.hasPrefix(" ") }
        let bytes = dump.flatMap { $0.split(separator: " ") }.compactMap { UInt8($0, radix: 16) }
        return try #require(bytes.last == UInt8(ascii: "!") ? bytes.dropLast() : nil, "\(rows)")
    }

    @Test("show and list --posters end, leave no bytes behind and keep the keys", arguments: 0..<count)
    func lines(seed: Int) throws {
        let hostile = HostileTerminal(UInt64(seed))
        let words = seed % 2 == 0 ? ["show", "film-3"] : ["list", "--posters", "--top", "1"]
        let terminal = try started(words, typedAhead: hostile.sent)
        try #require(terminal.waits { $0.row(containing: "ended with 0") != nil }, "\(hostile)")
        #expect(terminal.output.contains(sequence: "\u{1B}[c"), "the terminal was not asked")
        let left = try left(terminal)
        if Self.canPutBack { #expect(left.contains(inOrder: hostile.keys), "\(hostile): \(left)") }
        let letters = Set("abcdefghijklmnop".utf8)
        #expect(left.allSatisfy(letters.contains), "\(hostile): \(left)")
        #expect(!terminal.output.contains(sequence: HostileTerminal.mark), "\(hostile)")
        #expect(terminal.screen.unknown.isEmpty)
    }

    @Test("the browser continues, quits and leaves no bytes behind", arguments: 0..<count)
    func browser(seed: Int) throws {
        let hostile = HostileTerminal(UInt64(1000 + seed))
        let mode = ["auto", "kitty", "iterm2", "sixel", "blocks", "ascii"][seed % 6]
        let terminal = try started(["--graphics", mode])
        try #require(terminal.waits { $0.row(containing: "Film 1") != nil })
        terminal.type(hostile.sent)
        terminal.type(hostile.late)
        // An unfinished sequence may swallow a key, until a second of silence.
        let isOver = terminal.types("\u{3}") { $0.row(containing: "ended with 0") != nil }
        try #require(isOver, "\(hostile)")
        #expect(terminal.screen.modes == [7, 25])
        #expect(try left(terminal).allSatisfy { $0 == 3 }, "\(hostile)")
        #expect(!terminal.output.contains(sequence: HostileTerminal.mark), "\(hostile)")
    }

    @Test("the second of two answers does not reach the shell")
    func doubled() throws {
        let answers = "x\u{1B}[?62c\u{1B}[?62c\u{1B}P>|again\u{1B}\\"
        let terminal = try started(["show", "film-3"], typedAhead: Array(answers.utf8))
        try #require(terminal.waits { $0.row(containing: "ended with 0") != nil })
        #expect(!terminal.output.contains(sequence: "again"))
        #expect(try left(terminal) == (Self.canPutBack ? [UInt8(ascii: "x")] : []))
    }

    @Test("a terminal that never stops sending does not block the program")
    func endless() throws {
        let terminal = try started(["show", "film-3"])
        try #require(terminal.waits { _ in terminal.output.contains(sequence: "\u{1B}[c") })
        terminal.type("\u{1B}P>|")
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 512)
        var isOver = false
        let asked = ContinuousClock.now
        while !isOver, ContinuousClock.now - asked < .seconds(60) {
            terminal.type(piece)
            isOver = terminal.waits(seconds: 0.02) { $0.row(containing: "Film 3") != nil }
        }
        #expect(isOver)
    }
}

extension [UInt8] {
    /// Whether the bytes contain others in their order.
    fileprivate func contains(inOrder others: [UInt8]) -> Bool {
        var rest = others[...]
        for byte in self where byte == rest.first { rest = rest.dropFirst() }
        return rest.isEmpty
    }
}
