import FoundationEssentials
import TestSupport
import TestTraits
import Testing

/// `-o` of `fetch`, `picture` and `export`.
@Suite("Where output goes", .bounded)
struct OutputPlaceTests {
    private func run(_ fixture: Fixture, _ line: String) async throws -> Program.Outcome {
        try await Program.shell("cd '\(fixture.home.path)' && \(line)", environment: fixture.environment)
    }

    @Test("a name with the suffix of a picture is a file, any other name a folder; the line says which")
    func kinds() async throws {
        let fixture = try Fixture()
        let file = try await run(fixture, "marquee fetch film-1 -o x.png && cat x.png | wc -c")
        #expect(file.lines.first?.hasSuffix("  to x.png") == true, "\(file.errorText)")
        #expect(file.lines.last?.contains("\(Fixture.pixel.count)") == true)
        let folder = try await run(fixture, "marquee fetch film-1 -o posters && ls posters")
        #expect(folder.lines.first?.hasSuffix("  to posters/film-1.png") == true)
        #expect(folder.lines.last == "film-1.png")
        #expect(
            try await run(fixture, "marquee fetch film-1 -o y.png/ && ls y.png").lines.last == "film-1.png")
        let several = try await run(fixture, "marquee fetch film-1 film-2 -o z.png")
        #expect(several.status == 2 && several.errorText.contains("name a folder, as z.png/"))
    }

    @Test("another film's file stays: a folder numbers the new one, a file is refused")
    func otherFiles() async throws {
        let fixture = try Fixture()
        let numbered = try await run(
            fixture,
            "mkdir d; echo other > d/film-1.png; marquee fetch film-1 -o d; marquee fetch film-1 -o d; ls d"
        )
        #expect(numbered.lines.suffix(2) == ["film-1-2.png", "film-1.png"], "\(numbered.text)")
        #expect(numbered.lines.prefix(2).allSatisfy { $0.hasSuffix("  to d/film-1-2.png") })
        let refused = try await run(
            fixture, "echo other > x.png; marquee fetch film-1 -o x.png; echo $?; cat x.png")
        #expect(refused.lines == ["2", "other"])
        #expect(
            refused.errorText.contains("x.png: there is another file of this name; replace it with --force"))
        let kept = try await run(fixture, "marquee fetch film-1 -o x.png --no-clobber; echo $?; cat x.png")
        #expect(kept.lines.first?.hasSuffix("  x.png is there and is kept") == true)
        #expect(kept.lines.suffix(2) == ["0", "other"])
        let forced = try await run(fixture, "marquee fetch film-1 -o x.png -f; cat x.png | wc -c")
        #expect(forced.lines.last?.contains("\(Fixture.pixel.count)") == true)
        #expect(try await run(fixture, "marquee fetch film-1 -o x.png -f -n").status == 2)
    }

    @Test("picture -o - writes to standard output, and only the picture")
    func standardOutput() async throws {
        let fixture = try Fixture()
        let picture = try await run(fixture, "marquee picture '\(fixture.base)posters/1.png' w10 -o -; ls")
        let prefix = Array([0x89] + "PNG".utf8)
        #expect(picture.output.starts(with: prefix), "\(picture.errorText)")
        #expect(!picture.text.contains("\n-\n") && !picture.text.contains("network"))
        let device = try await run(fixture, "marquee fetch film-1 -o /dev/null; echo $?")
        #expect(device.lines.last == "0")
    }

    @Test("export -o writes a file when it is whole, and replaces another one only with --force")
    func export() async throws {
        let fixture = try Fixture()
        let made = try await run(
            fixture,
            "marquee import '\(fixture.folder.file("movies.json"))' f.db && marquee export f.db -o f.json && "
                + "marquee export f.db | cmp - f.json && marquee export f.db -o f.json; echo $?; ls -A")
        #expect(made.lines.contains("2"), "\(made.errorText)")
        #expect(made.errorText.contains("f.json: there is another file of this name"))
        #expect(!made.text.contains(".marquee-"))
        let forced = try await run(
            fixture,
            "echo old > f.json; marquee export f.db -o f.json --force; marquee export f.db | cmp - f.json; echo $?"
        )
        #expect(forced.lines == ["0"], "\(forced.text)")
        let failed = try await run(
            fixture,
            "marquee export f.db -o no/f.json; echo $?; marquee export none.db -o g.json; ls g.json")
        #expect(failed.lines == ["2"], "\(failed.text)")
    }

    private static func library(_ fixture: Fixture) -> String {
        "marquee import '\(fixture.folder.file("movies.json"))' f.db"
    }

    @Test(
        "a library is never written over by its own export, whatever its name",
        arguments: ["f.db", "./f.db", "link.db", "hard.db", "f.db-wal"])
    func ownExport(name: String) async throws {
        let fixture = try Fixture()
        let run = try await run(
            fixture,
            "\(Self.library(fixture)) && ln -s f.db link.db && ln f.db hard.db && "
                + "marquee export f.db -o \(name) --force; echo $?; marquee list --catalogue f.db --plain | wc -l"
        )
        #expect(run.lines.suffix(2).map { $0.filter(\.isNumber) } == ["2", "6"], "\(run.text)")
        #expect(
            run.errorText.contains("\(name): this file belongs to the library f.db; name another with -o"))
    }

    @Test("a library is not imported into itself")
    func ownImport() async throws {
        let fixture = try Fixture()
        let run = try await run(
            fixture, "\(Self.library(fixture)) && ln -s f.db g.db && marquee import f.db g.db; echo $?")
        #expect(run.lines.last == "2")
        #expect(run.errorText == "marquee: g.db: this is f.db itself; name another library\n")
    }

    @Test("picture never replaces its source", arguments: ["-o 1.png --force", "-o l.png", "-o . --force"])
    func ownPicture(output: String) async throws {
        let fixture = try Fixture()
        let run = try await run(
            fixture,
            "cp '\(fixture.folder.file("posters/1.png"))' . && ln -s 1.png l.png && "
                + "marquee picture 1.png 3x3.fill \(output); echo $?; wc -c < 1.png")
        #expect(run.lines.suffix(2).map { $0.filter(\.isNumber) } == ["2", "\(Fixture.pixel.count)"])
        #expect(
            run.errorText.contains("this is the source itself; name another file with -o"), "\(run.errorText)"
        )
    }

    @Test("picture replaces a picture and an empty file; any other file only with --force")
    func replacedPictures() async throws {
        let fixture = try Fixture()
        let source = "'\(fixture.folder.file("posters/1.png"))'"
        let run = try await run(
            fixture,
            "echo notes > notes.png; : > empty.png; marquee picture \(source) 3x3.fill -o notes.png; echo $?; "
                + "cat notes.png; marquee picture \(source) 3x3.fill -o empty.png -q; echo $?; "
                + "marquee picture \(source) 4x4.fill -o empty.png -q; echo $?; "
                + "marquee picture \(source) 3x3.fill -o notes.png -q --force; echo $?; head -c 4 notes.png")
        #expect(run.text.contains("2\nnotes\n0\n0\n0\n"), "\(run.text)")
        #expect(
            run.errorText.contains(
                "notes.png: there is a file of this name that is no picture; replace it with --force"),
            "\(run.errorText)")
    }

    @Test(
        "the first signal ends a program that waits for the reader of a pipe",
        arguments: [
            "export f.db -o p", "fetch film-1 -o p", "picture 1.png w10 -o p",
        ])
    func waitingForReader(line: String) async throws {
        let fixture = try Fixture()
        // The name of the kernel's function in which a program waits for the other end of a named pipe.
        // A thread may end between its listing and its reading.
        let waits = "cat /proc/$pid/task/*/wchan 2>/dev/null | grep -q wait_for_partner"
        let wait = "until \(waits); do sleep 0.05; done"
        let run = try await run(
            fixture,
            "cp '\(fixture.folder.file("posters/1.png"))' . && \(Self.library(fixture)) -q && mkfifo p && "
                + "{ marquee \(line) & pid=$!; \(wait); kill -TERM $pid; wait $pid; echo $?; }")
        #expect(run.lines.last == "143", "\(run.text)")
        #expect(run.errors.isEmpty, "\(run.errorText)")
    }

    @Test("a pipe gets the bytes once it has a reader, and so does a shell's >(command)")
    func pipes() async throws {
        let fixture = try Fixture()
        let run = try await run(
            fixture,
            "\(Self.library(fixture)) -q && mkfifo p && { cat p > f.json & marquee export f.db -o p; wait; } && "
                + "marquee export f.db | cmp - f.json && echo same; "
                + "bash -c 'marquee fetch film-1 -q -o >(cat > x.png); "
                + "until cmp -s x.png \(fixture.folder.file("posters/1.png")); do sleep 0.05; done; echo same'"
        )
        #expect(run.lines.suffix(2) == ["same", "same"], "\(run.text) \(run.errorText)")
    }
}
