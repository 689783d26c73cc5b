import TestTraits
import Testing

@testable import marquee

@Suite("Parsing the command line", .bounded)
struct ArgumentsTests {
    private func read(_ words: String...) throws -> Arguments {
        try Arguments(words)
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

    @Test("the last of repeated options counts, and all are kept")
    func repeated() throws {
        let arguments = try read("--header", "a: 1", "list", "--header", "b: 2")
        #expect(arguments.values("header") == ["a: 1", "b: 2"])
        #expect(try read("--top", "1", "--top", "2").value("top") == "2")
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
