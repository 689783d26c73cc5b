import FoundationEssentials
import TestSupport
import TestTraits
import Testing

/// What a user of other command-line programs expects.
@Suite("Conventions of the command line", .bounded, .ownThread)
struct ConventionTests {
    @Test("help and the manual name an address for questions; version is a command")
    func help() async throws {
        let folder = try TemporaryFolder()
        for line in ["help", "--help", "fetch --help", "man"] {
            #expect(
                try await Program.shell("marquee \(line)", in: folder).text.contains(
                    "uestions and faults: http"),
                "\(line)")
        }
        let version = try await Program.shell("marquee version && marquee --version", in: folder)
        #expect(version.lines.count == 2 && Set(version.lines).count == 1)
    }

    @Test("an unknown option without a command blames no command")
    func unknownOption() async throws {
        let folder = try TemporaryFolder()
        #expect(
            try await Program.shell("marquee -x", in: folder).errorText
                == "marquee: there is no option -x; see marquee --help\n")
        for line in ["--foo", "--foo bar", "--foo=1 bar"] {
            #expect(
                try await Program.shell("marquee \(line)", in: folder).errorText
                    == "marquee: there is no option --foo; see marquee --help\n")
        }
        #expect(
            try await Program.shell("marquee list -x", in: folder).errorText
                == "marquee: list has no option -x; see marquee list --help\n")
    }

    @Test("an ambiguous name lists its films, one on each line")
    func ambiguous() async throws {
        let folder = try TemporaryFolder()
        let films =
            "[{\"id\":\"a1\",\"title\":\"Faust\",\"year\":1926},{\"id\":\"a2\",\"title\":\"Faust\",\"year\":1960}]"
        try folder.write(films, to: "f.json")
        let shown = try await Program.shell("marquee show faust --catalogue f.json", in: folder)
        #expect(shown.status == 2)
        #expect(
            shown.errorLines == [
                "marquee: \"faust\" names several films; give an id:", "  a1 (Faust, 1926)",
                "  a2 (Faust, 1960)",
            ])
    }

    @Test("a closed standard output is named; the output reaches no other file")
    func closedOutput() async throws {
        let folder = try TemporaryFolder()
        let run = try await Program.shell("marquee list >&-; echo $?", in: folder)
        #expect(run.text == "1\n")
        #expect(
            run.errorText.contains(
                "marquee: standard output cannot be written: it is closed; write to a file or to /dev/null\n"),
            "\(run.errorText)")
    }

    @Test("a library's error speaks of no HTTP; a vote needs no USER; --dry-run changes nothing")
    func library() async throws {
        let folder = try TemporaryFolder()
        let made = try await Program.shell(
            "marquee import sample f.db --dry-run && ls f.db; marquee import sample f.db", in: folder)
        #expect(
            made.lines == [
                "f.db: would add 36 films, store 36 posters; --dry-run wrote nothing",
                "f.db: 36 films added; 36 posters stored",
            ],
            "\(made.text)")
        let wrong = try await Program.shell(
            "marquee add --title X --year 99999 --catalogue f.db", in: folder)
        #expect(wrong.status == 2)
        #expect(
            wrong.errorText.hasPrefix("marquee: f.db: ") && !wrong.errorText.contains("422"),
            "\(wrong.errorText)")
        let vote = try await Program.shell(
            "env -u USER marquee rate metropolis 8 --catalogue f.db", in: folder)
        #expect(vote.status == 0, "\(vote.errorText)")
        let rehearsal = try await Program.shell(
            "marquee remove metropolis --dry-run --catalogue f.db; marquee list --catalogue f.db --plain | wc -l",
            in: folder)
        #expect(rehearsal.lines.first?.hasPrefix("would remove ") == true)
        #expect(rehearsal.lines.last?.contains("36") == true)
    }

    @Test("cache clear asks on a terminal, and needs --yes without one; --dry-run only counts")
    func clearing() async throws {
        let folder = try TemporaryFolder()
        _ = try await Program.shell("marquee fetch metropolis", in: folder)
        let rehearsal = try await Program.shell("marquee cache clear --dry-run", in: folder)
        #expect(rehearsal.text.hasPrefix("would remove 1 entry ("), "\(rehearsal.text)")
        let environment = ["HOME": folder.path, "XDG_CACHE_HOME": folder.path]
        func clear(_ words: [String], answer: String) throws -> PseudoTerminal {
            let terminal = try PseudoTerminal(
                BuiltProgram.path("marquee"), ["cache", "clear"] + words, environment: environment,
                // The question has the folder's path, and must not be broken in its end.
                columns: 400)
            if !answer.isEmpty {
                #expect(terminal.waits { $0.row(containing: "[y/N]") != nil })
                terminal.type(answer)
            }
            return terminal
        }
        #expect(try clear([], answer: "n\r").waitForEnd() == .exited(2))
        #expect(try await Program.shell("marquee cache info", in: folder).text.contains("1 entry, "))
        #expect(try clear([], answer: "y\r").waitForEnd() == .exited(0))
        _ = try await Program.shell("marquee fetch metropolis", in: folder)
        #expect(try clear(["--yes"], answer: "").waitForEnd() == .exited(0))
        _ = try await Program.shell("marquee fetch metropolis", in: folder)
        for line in ["marquee cache clear", "marquee cache clear --host sample.localhost --json"] {
            let unasked = try await Program.shell(line, in: folder)
            #expect(unasked.status == 2 && unasked.output.isEmpty)
            #expect(
                unasked.errorText
                    == "marquee: cache clear asks before it removes, but there is no terminal; add --yes\n")
        }
        let cleared = try await Program.shell("marquee cache clear -y", in: folder)
        #expect(cleared.status == 0 && cleared.text.contains("1 removed"))
    }
}
