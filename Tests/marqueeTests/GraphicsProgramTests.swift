import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// `--graphics kitty|iterm2|sixel`, in a pipe and on a terminal.
@Suite("Pixel graphics", .bounded, .ownThread)
struct GraphicsProgramTests {
    private static let beginnings = [
        "kitty": "\u{1B}_Ga=t,f=100,", "iterm2": "\u{1B}]1337;File=inline=1;", "sixel": "\u{1B}P7;1;q\"1;1;",
    ]

    /// The height of a terminal whose picture's size does not matter: a large one takes long to draw.
    private static let fewRows = 10

    private let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        // The fixture's posters are transparent, so these tests have their own.
        let opaque = Bitmap(width: 1, height: 1, pixels: [201, 77, 33, 255])
        for number in 1...6 {
            try fixture.folder.write(PNGEncoder().encode(opaque), to: "posters/\(number).png")
        }
    }

    @Test(
        "show draws over empty lines, in cells of 8 x 16 pixels without a terminal",
        arguments: beginnings.keys.sorted())
    func show(mode: String) async throws {
        let shown = try await fixture.run("show", "film-3", "--graphics", mode, "--color", "always")
        #expect(shown.status == 0)
        let beginning = try #require(Self.beginnings[mode])
        // A square in a room of 60 x 30 cells.
        #expect(shown.text.contains(String(repeating: "\n", count: 30) + "\u{1B}[30A\u{1B}7" + beginning))
        #expect(shown.text.contains("\u{1B}8\u{1B}[30B\n"))
        let place = ["kitty": ",c=60,r=30,C=1,", "iterm2": ";width=60;height=30;", "sixel": ";480;480#0;2;"]
        #expect(shown.text.contains(try #require(place[mode])))
        let plain = try await fixture.run("show", "film-3", "--graphics", mode)
        #expect(!plain.text.contains("\u{1B}") && plain.text.contains("Film 3\n"))
    }

    @Test("list --posters puts the text beside each picture", arguments: beginnings.keys.sorted())
    func list(mode: String) async throws {
        let listed = try await fixture.run("list", "--posters", "--graphics", mode, "--color", "always")
        #expect(listed.status == 0)
        let beginning = try #require(Self.beginnings[mode])
        let pieces = listed.text.components(separatedBy: "\u{1B}[13A\u{1B}7" + beginning)
        #expect(pieces.count == 7)
        #expect(
            pieces[0].contains("Film 1") && pieces[1].contains("\u{1B}8\u{1B}[13B")
                && pieces[1].contains("Film 2"))
    }

    @Test("kitty's pictures have different numbers")
    func numbers() async throws {
        let listed = try await fixture.run("list", "--posters", "--graphics", "kitty", "--color", "always")
        let numbers = listed.text.components(separatedBy: "a=t,f=100,i=").dropFirst().map {
            $0.prefix { $0 != "," }
        }
        #expect(Set(numbers).count == 6)
        #expect(numbers.allSatisfy { listed.text.contains("a=p,i=\($0),p=1,") })
    }

    @Test("on a small terminal a picture leaves two rows free, so that the screen never scrolls")
    func smallTerminal() throws {
        for (words, rows) in [(["show", "film-3"], 8), (["list", "--posters", "--top", "1"], 9)] {
            let terminal = try ended(words + ["--graphics", "sixel"])
            let text = String(decoding: terminal.output, as: UTF8.self)
            #expect(text.contains("\u{1B}[\(rows)A\u{1B}7\u{1B}P7;1;q\"1;1;128;126"), "\(words)")
        }
    }

    @Test("in tmux kitty's pictures are placeholders, and their data passes through to the outer terminal")
    func tmux() throws {
        let terminal = try ended(
            ["show", "film-3", "--graphics", "kitty"], ["TMUX": "/tmp/tmux-0/default,1,0"])
        let text = String(decoding: terminal.output, as: UTF8.self)
        #expect(text.contains("\u{1B}Ptmux;\u{1B}\u{1B}_Ga=t,f=100,i="))
        #expect(text.contains("\u{1B}\u{1B}_Ga=p,U=1,i="))
        // Row 3, column 2. Compared as bytes: a character of a string would hide it.
        let scalars = text.unicodeScalars.map(\.value)
        #expect(scalars.indices.contains { scalars[$0...].starts(with: [0x10EEEE, 0x310, 0x30E]) })
    }

    /// A small terminal in which the program has ended.
    private func ended(
        _ words: [String], _ environment: [String: String] = [:], answers: String = ""
    ) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), words, environment: fixture.environment.merging(environment) { $1 },
            rows: Self.fewRows, typedAhead: Array(answers.utf8))
        #expect(terminal.waitForEnd() == .exited(0))
        return terminal
    }

    /// A terminal in which `show` has ended, with these answers to its query.
    private func shown(_ answers: String, _ environment: [String: String] = [:]) throws -> PseudoTerminal {
        let terminal = try ended(["show", "film-3"], environment, answers: answers)
        #expect(terminal.output.contains(sequence: "\u{1B}[c"))
        return terminal
    }

    @Test("the terminal is queried, gets pictures by its best protocol, and keeps its settings")
    func answers() throws {
        for (answers, beginning) in [
            ("\u{1B}P>|kitty(0.26.5)\u{1B}\\\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;16;8t\u{1B}[?62;c", "kitty"),
            ("\u{1B}P>|XTerm(379)\u{1B}\\\u{1B}[?64;1;4c", "sixel"),
            ("\u{1B}P>|iTerm2 3.5\u{1B}\\\u{1B}[?62c", "iterm2"),
        ] {
            let terminal = try shown(answers)
            #expect(terminal.output.contains(sequence: try #require(Self.beginnings[beginning])))
            #expect(terminal.settings == terminal.settingsBefore)
        }
    }

    @Test(
        "a terminal without pixels gets blocks, in 24 bits if it has them; a silent one causes no delay"
    )
    func silent() throws {
        let plain = try shown("\u{1B}P>|XTerm(379)\u{1B}\\\u{1B}[?64;1c")
        #expect(plain.output.contains(sequence: "48;2;"))
        let silent = try shown("")
        #expect(silent.output.contains(sequence: "48;5;") && silent.settings == silent.settingsBefore)
    }

    @Test(
        "there is no query in a pipe, on a dumb terminal, or when --graphics or NO_COLOR decides"
    )
    func notAsked() async throws {
        for (words, environment) in [
            ([], ["TERM": "dumb"]), ([], ["NO_COLOR": "1"]),
            (["--graphics", "ascii"], [:]), (["--graphics", "sixel"], [:]),
            (["--graphics", "blocks"], ["COLORTERM": "truecolor"]),
            (["--json"], [:]),
        ] {
            let terminal = try ended(["show", "film-3"] + words, environment)
            #expect(!terminal.output.contains(sequence: "\u{1B}[c"), "\(words) \(environment)")
        }
        let piped = try await fixture.run("show", "film-3", "--color", "always", "--graphics", "auto")
        #expect(!piped.text.contains("\u{1B}[c") && piped.text.contains("\u{1B}["))
    }

    @Test("in tmux the outer terminal is queried, which may not receive the query")
    func tmuxAnswers() throws {
        for (answers, isKitty) in [
            ("\u{1B}[?1;2c\u{1B}P>|kitty(0.41.1)\u{1B}\\\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62c", true),
            ("\u{1B}[?1;2;4c", false),
        ] {
            let terminal = try shown(answers, ["TMUX": "/tmp/tmux-0/default,1,0"])
            #expect(terminal.output.contains(sequence: "\u{1B}[c\u{1B}Ptmux;\u{1B}\u{1B}[>0q"))
            #expect(terminal.output.contains(sequence: "\u{1B}\u{1B}_Ga=p,U=1,i=") == isKitty)
        }
    }
}
