import SystemSupport
import TestTraits
import Testing

@testable import marquee

@Suite("Parsing the command line", .bounded)
struct ArgumentsTests {
    private func read(_ words: String...) throws -> Arguments {
        try Arguments(words)
    }

    private func fault(_ words: String...) -> String {
        do {
            _ = try Arguments(words)
            return "no fault"
        } catch {
            return error.description
        }
    }

    @Test("the default command is list")
    func defaultCommand() throws {
        #expect(try read().command.name == "list")
        #expect(try read("--top", "3").value("top") == "3")
    }

    @Test("options may precede, separate and follow operands")
    func order() throws {
        for words in [
            ["fetch", "a", "b", "-o", "out", "--json"], ["--json", "fetch", "-oout", "a", "b"],
            ["-o", "out", "fetch", "a", "--json", "b"], ["--output=out", "--json", "fetch", "a", "b"],
            ["fetch", "--output", "out", "a", "b", "--json"], ["-qo", "out", "fetch", "a", "b", "--json"],
        ] {
            let arguments = try Arguments(words)
            #expect(arguments.command.name == "fetch", "\(words)")
            #expect(arguments.operands == ["a", "b"], "\(words)")
            #expect(arguments.value("output") == "out", "\(words)")
            #expect(arguments.has("json"), "\(words)")
        }
    }

    @Test("an option's value before the command is not the command")
    func valueBeforeCommand() throws {
        let arguments = try read("--catalogue", "show", "list")
        #expect(arguments.command.name == "list")
        #expect(arguments.value("catalogue") == "show")
    }

    @Test("a file in place of the command is the catalogue, and a file name is never a command")
    func catalogueFirst() throws {
        for word in [
            "films.json", "FILMS.XML", "./films", "/tmp/films", "../a.json", "https://h/movies.json",
        ] {
            let arguments = try read(word, "--top", "3")
            #expect(arguments.command.name == "list" && !arguments.isCommandNamed, "\(word)")
            #expect(arguments.value("catalogue") == word)
            #expect(arguments.value("top") == "3")
        }
        #expect(try read("list").value("catalogue") == nil)
        #expect(fault("films.json", "other.json").contains("does not take \"other.json\""))
    }

    @Test("all words after -- are operands")
    func dashes() throws {
        #expect(try read("fetch", "--", "--json", "-o").operands == ["--json", "-o"])
        #expect(try read("fetch", "-").operands == ["-"])
    }

    @Test("a value may be empty or contain an equals sign")
    func values() throws {
        #expect(try read("--header=a: b=c").value("header") == "a: b=c")
        #expect(try read("--header=").value("header") == "")
    }

    @Test("the last of repeated options counts, and all are kept")
    func repeated() throws {
        let arguments = try read("--header", "a: 1", "list", "--header", "b: 2")
        #expect(arguments.values("header") == ["a: 1", "b: 2"])
        #expect(try read("--top", "1", "--top", "2").value("top") == "2")
    }

    @Test("the error for an unknown command or option suggests the nearest")
    func suggestions() {
        #expect(fault("lst").contains("did you mean \"list\"?"))
        #expect(fault("prewrm").contains("did you mean \"prewarm\"?"))
        #expect(fault("--ofline").contains("did you mean --offline?"))
        #expect(fault("fetch", "a", "--concurency", "3").contains("did you mean --concurrency?"))
        #expect(fault("xyzzy").contains("see marquee --help"))
        #expect(fault("list", "-z").contains("see marquee list --help"))
        #expect(fault("list", "--port", "1").contains("list has no option --port"))
    }

    @Test("the error names a missing or surplus word")
    func operands() {
        #expect(fault("show").contains("show needs FILM|URL|FILE"))
        #expect(fault("remove", "a", "b").contains("does not take \"b\""))
        #expect(fault("--catalogue").contains("--catalogue needs a value: FILE|URL"))
        #expect(fault("fetch", "-o").contains("--output needs a value: DIR"))
        #expect(fault("--json=yes").contains("--json takes no value"))
        #expect(fault("show", "--help") == "no fault")
        #expect(fault("show", "--version") == "no fault")
    }

    @Test("numbers are checked against their range")
    func numbers() throws {
        let arguments = try read("fetch", "a", "--concurrency", "300", "--per-host", "12")
        #expect(try arguments.number("per-host", in: 1...256) == 12)
        #expect(try arguments.number("absent", in: 1...2) == nil)
        #expect(throws: UsageError.self) { try arguments.number("concurrency", in: 1...256) }
    }

    @Test(
        "sizes come in powers of 1024",
        arguments: [
            ("1", 1), ("512K", 512 << 10), ("32M", 32 << 20), ("2g", 2 << 30), ("1MiB", 1 << 20),
            ("3kb", 3 << 10),
            ("7B", 7), ("1t", 1_099_511_627_776),
        ])
    func sizes(text: String, bytes: Int) throws {
        #expect(try read("--max-bytes", text).bytes("max-bytes") == bytes)
    }

    @Test(
        "malformed sizes are refused",
        arguments: ["", "0", "-1", "1.5G", "G", "1Q", "9999999999G", "99999999999999999999", "1 M", "¹"])
    func noSizes(text: String) throws {
        let arguments = try read("--max-bytes=" + text)
        #expect(throws: UsageError.self) { try arguments.bytes("max-bytes") }
    }

    @Test(
        "seconds may be fractions, but neither zero nor infinite",
        arguments: ["0", "-1", "nan", "inf", "86401", "x"])
    func seconds(text: String) throws {
        #expect(try read("--timeout", "0.25").seconds("timeout") == 0.25)
        let arguments = try read("--timeout", text)
        #expect(throws: UsageError.self) { try arguments.seconds("timeout") }
    }
}
