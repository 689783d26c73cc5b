import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("Output that cannot be written", .bounded)
struct OutputFaultTests {
    private let folder: TemporaryFolder

    /// A folder with a catalogue of one film, its poster, and a key.
    init() throws {
        folder = try TemporaryFolder()
        try folder.write(#"[{"id":"faust","title":"Faust","poster":"n.png"}]"#, to: "one.json")
        try folder.write(SampleImages.png, to: "n.png")
        try folder.write(String(repeating: "5a", count: 40) + "\n", to: "key")
        try folder.makeFolder("sub")
    }

    private func run(_ line: String) async throws -> Program.Outcome {
        try await Program.shell(
            line, in: folder,
            environment: [
                "XDG_CACHE_HOME": folder.file("cache"), "XDG_DATA_HOME": folder.file("data"),
                "XDG_STATE_HOME": folder.file("state"), "USER": "anna",
            ])
    }

    /// A type's name as it stands in a description that nobody has written: `FileFault(kind: …`, `Kind.write`.
    private func value(in text: String) -> Substring? {
        text.firstMatch(
            of: #/[A-Z][A-Za-z]*\(|\.[A-Z][A-Za-z]*\.[a-z]|SystemSupport|Error Domain|Optional|errno: /#
        ).map { $0.output }
    }

    private func check(_ line: String, has text: String = "") async throws {
        let outcome = try await run(line)
        let value = value(in: outcome.errorText)
        #expect(value == nil, "\(line): \(outcome.errorText)")
        #expect(text.isEmpty || outcome.errorText.contains(text), "\(line): \(outcome.errorText)")
        #expect(outcome.status >= 0, "\(line)")
    }

    /// Commands that print or write something.
    static let commands = [
        "list --catalogue one.json", "list --json --catalogue f.db", "show n.png",
        "show faust --catalogue one.json", "fetch n.png", "fetch n.png -o -", "fetch n.png -o sub/",
        "prewarm one.json", "prewarm one.json --detach", "cache info", "cache verify", "cache trim --to 1K",
        "cache clear --yes", "cache path", "add --title Metropolis --catalogue f.db",
        "edit faust --year 1926 --catalogue f.db", "rate faust 8 --catalogue f.db",
        "remove faust --yes --catalogue f.db", "import one.json g.db", "export f.db",
        "export f.db --format xml -o out.xml", "upload n.png http://127.0.0.1:1/",
        "upload - http://127.0.0.1:1/ < n.png", "serve f.db --writable", "picture n.png w92 -o out.png",
        "sign https://example.org/a.jpg w92 --sign-key-file key", "token 127.0.0.1:1",
        "purge https://example.org/a.jpg", "status", "jobs", "jobs attach none", "doctor",
        "completions bash", "man", "help", "version",
    ]

    /// The library that some commands need.
    private func prepared(_ line: String) -> String {
        line.contains("f.db") ? "marquee import -q one.json f.db; " : ""
    }

    @Test("a command on a full standard output prints no description of a value", arguments: commands)
    func standardOutput(line: String) async throws {
        try await check(prepared(line) + "marquee \(line) > /dev/full")
    }

    @Test("a command on a full disk prints no description of a value", arguments: commands)
    func fullDisk(line: String) async throws {
        // No file may have a byte.
        try await check(
            prepared(line) + "trap '' XFSZ; ulimit -f 0; marquee \(line) > /dev/null")
    }

    @Test(
        "-o at a place that cannot be written says which one, and why",
        arguments: ["export f.db", "fetch n.png", "picture n.png w92"],
        [
            ("/dev/full", "/dev/full: cannot be written: No space left on device"),
            ("/proc/none/x.png", "/proc/none/x.png: cannot be written: No such file or directory"),
            ("n.png/x.png", "n.png/x.png: cannot be written: Not a directory"),
        ])
    func places(line: String, place: (path: String, reason: String)) async throws {
        try await check(prepared(line) + "marquee \(line) -o \(place.path)", has: "marquee: " + place.reason)
    }
}
