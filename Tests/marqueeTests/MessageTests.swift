import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("Messages say what has happened", .bounded)
struct MessageTests {
    private let folder: TemporaryFolder

    /// A folder with a library of one film, a catalogue of two films, and a picture.
    init() async throws {
        folder = try TemporaryFolder()
        try folder.write(try #require(SampleCatalogue.file("posters/nosferatu.jpg")), to: "n.jpg")
        let films =
            #"[{"id":"faust","title":"Faust","year":1926},{"id":"m","title":"M","poster":"gone.png"}]"#
        try folder.write(films, to: "two.json")
        try folder.write(#"[{"id":"faust","title":"Faust","year":1926}]"#, to: "one.json")
        _ = try await run("marquee import one.json f.db")
    }

    private func run(_ line: String, _ environment: [String: String] = [:]) async throws -> Program.Outcome {
        try await Program.shell(line, in: folder, environment: ["USER": "anna"].merging(environment) { $1 })
    }

    @Test(
        "the reason of an error, in one line",
        arguments: [
            (
                "rate faust --remove --as bob --catalogue f.db",
                "bob has no vote on Faust (1926); nothing was removed"
            ),
            ("rate faust -1 --catalogue f.db", "a vote is a number from 0 to 10, not \"-1\""),
            (
                "fetch n.jpg -o one.json",
                "one.json: cannot make the folder: there is a file of this name; choose another with -o"
            ),
            (
                "fetch n.jpg -o one.json/sub",
                "one.json/sub: cannot make the folder: Not a directory; choose another with -o"
            ),
            (
                "fetch n.jpg -o /proc/none/sub",
                "/proc/none/sub: cannot make the folder: No such file or directory; choose another with -o"
            ),
            ("show x.jpg", "x.jpg: it is a symbolic link to a file that is missing; check the path"),
            ("show y.jpg", "y.jpg: Too many levels of symbolic links; check the path"),
            ("show ./x.jpg", "FOLDER/x.jpg: cannot be read: it is a symbolic link to a file that is missing"),
            (
                "list --top 99999999999999999999",
                "--top needs a whole number from 1 to \(Int.max), not \"99999999999999999999\""
            ),
            ("list --catalogue empty", "empty: it is empty; it should hold films as JSON or XML"),
        ])
    func errors(line: String, message: String) async throws {
        let run = try await run("ln -s gone x.jpg; ln -s y.jpg y.jpg; : > empty; marquee \(line)")
        #expect(run.status == 2)
        #expect(run.errorText == "marquee: \(message.replacing("FOLDER", with: folder.path))\n")
    }

    @Test("a vote that is there is removed")
    func vote() async throws {
        let run = try await run(
            "marquee rate faust 8 --as bob --catalogue f.db && marquee rate faust --remove --as bob --catalogue f.db"
        )
        #expect(run.status == 0)
        #expect(run.lines == ["Faust (1926): 8.0 of 10 from 1 vote", "Faust (1926): no votes"])
    }

    @Test("a rehearsed import says what it would do; a poster that is not stored ends an import with 1")
    func imports() async throws {
        let rehearsal = try await run("marquee import two.json f.db --dry-run; echo $?")
        #expect(
            rehearsal.lines == ["f.db: would add 1 film; 1 unchanged; --dry-run wrote nothing", "1"],
            "\(rehearsal.text)")
        let done = try await run(
            "marquee import two.json f.db; echo $?; marquee list --plain --catalogue f.db")
        #expect(done.lines.prefix(2) == ["f.db: 1 film added, 1 unchanged", "1"])
        #expect(done.lines.count == 4)
    }

    @Test("one entry of the cache is one entry")
    func entries() async throws {
        let fixture = try Fixture()
        _ = try await fixture.run("fetch", fixture.base + "posters/1.png")
        #expect(try await fixture.run("cache", "info").lines[1].hasPrefix("1 entry, "))
        #expect(
            try await fixture.run("cache", "clear", "--dry-run").text.hasPrefix("would remove 1 entry ("))
        let host = try await fixture.run("cache", "clear", "--dry-run", "--host", "127.0.0.1").text
        #expect(host.hasPrefix("would remove 1 entry (") && host.hasSuffix(") of 127.0.0.1\n"), "\(host)")
        #expect(try await fixture.run("cache", "verify").text.hasPrefix("1 entry, "))
        #expect(try await fixture.run("doctor").text.contains(": 1 entry, "))
    }

    @Test("a wrong line of the configuration file stops neither help nor doctor, which reports it")
    func configuration() async throws {
        for (text, problem) in [
            ("tiemout 3", "no command has an option tiemout; did you mean timeout?"),
            ("timeout never", "timeout needs seconds, more than 0 and at most 86400, not \"never\""),
        ] {
            let environment = ["XDG_CONFIG_HOME": folder.file("config")]
            let help = try await run(
                "mkdir -p config/marquee && echo '\(text)' > config/marquee/config; marquee help && marquee help list && "
                    + "marquee --help && marquee list --help && marquee version && marquee man",
                environment)
            #expect(help.status == 0 && help.errors.isEmpty, "\(help.errorText)")
            let doctor = try await run("marquee doctor", environment)
            #expect(doctor.status == 1 && doctor.errors.isEmpty, "\(doctor.errorText)")
            #expect(
                doctor.lines.first
                    == "problem  settings    \(folder.path)/config/marquee/config:1: \(problem)",
                "\(doctor.text)")
            #expect(try await run("marquee list", environment).status == 2)
        }
    }

    @Test("an option that no configuration file may have is not proposed for itself")
    func proposal() async throws {
        let run = try await run(
            "mkdir -p config/marquee && echo version > config/marquee/config; marquee list",
            ["XDG_CONFIG_HOME": folder.file("config")])
        #expect(run.errorText.hasSuffix(":1: no command has an option version\n"), "\(run.errorText)")
    }

    @Test("adding a film twice says that it is there already")
    func addedTwice() async throws {
        let line = "marquee add --title Metropolis --year 1927 --catalogue f.db"
        let run = try await run("\(line); \(line); echo $?; \(line) --director Lang; echo $?")
        #expect(run.lines == ["added Metropolis (1927) as metropolis-1927", "2", "2"])
        #expect(
            run.errorLines == [
                "marquee: Metropolis (1927) is there already, as metropolis-1927; nothing was added",
                "marquee: the film metropolis-1927 exists already: Metropolis (1927); change it with marquee edit, "
                    + "or use another --id",
            ])
    }

    @Test(
        "a word in the wrong place gets the command that fits",
        arguments: [
            ("n.jpg", "n.jpg: it is a picture, not a list of films; to see it, write marquee show n.jpg"),
            (
                "metropolis",
                "there is no command \"metropolis\"; to see the film, write marquee show metropolis"
            ),
            (
                "faust --catalogue f.db",
                "there is no command \"faust\"; to see the film, write marquee show faust"
            ),
            ("lsit", "there is no command \"lsit\"; did you mean \"list\"?"),
            ("zzz", "there is no command \"zzz\"; see marquee --help"),
            (
                "fetch example.org/a.jpg",
                "example.org/a.jpg: there is no such file; for the address, write https://example.org/a.jpg"
            ),
            ("fetch gone/a.jpg", "gone/a.jpg: there is no such file; check the path"),
            (
                "edit faust --poster ftp://x/a.jpg --catalogue f.db",
                "--poster: ftp://x/a.jpg: the scheme ftp is not read; use https, http, file or data"
            ),
        ])
    func hints(line: String, message: String) async throws {
        let run = try await run("marquee \(line)")
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.errorText == "marquee: \(message)\n")
    }
}
