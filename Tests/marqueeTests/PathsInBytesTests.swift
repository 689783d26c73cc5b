import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import marquee

/// Names of files and folders are bytes on Linux.
@Suite("Paths that are not UTF-8", .bounded)
struct PathsInBytesTests {
    private let folder: TemporaryFolder

    /// A folder with a picture, a catalogue and a library.
    init() async throws {
        folder = try TemporaryFolder()
        try folder.write(try #require(SampleCatalogue.file("posters/nosferatu.jpg")), to: "n.jpg")
        try folder.write(#"[{"id":"a","title":"A"}]"#, to: "x.json")
        _ = try await run("marquee import x.json f.db")
    }

    /// Runs a line of shell in the folder. `$n` is a name that is not UTF-8.
    private func run(_ line: String) async throws -> Program.Outcome {
        try await Program.shell(
            "n=$(printf 'x\\377') && \(line)", in: folder,
            environment: ["XDG_CACHE_HOME": folder.file("cache")])
    }

    @Test(
        "a name that an option, a library or a variable cannot carry is refused before anything is written",
        arguments: [
            (
                "marquee fetch n.jpg --cache-dir $n",
                "--cache-dir: FOLDER/x\u{FFFD} is not UTF-8; choose another name"
            ),
            ("marquee fetch n.jpg -o $n", "--output: FOLDER/x\u{FFFD} is not UTF-8; choose another name"),
            ("marquee fetch n.jpg -o$n", "-ox\u{FFFD} is not UTF-8; choose another name"),
            ("marquee fetch n.jpg --output=$n", "--output=x\u{FFFD} is not UTF-8; choose another name"),
            (
                "marquee picture n.jpg w10 -o $n.png",
                "--output: FOLDER/x\u{FFFD}.png is not UTF-8; choose another name"
            ),
            ("marquee export f.db -o $n", "--output: FOLDER/x\u{FFFD} is not UTF-8; choose another name"),
            ("marquee import x.json $n.db", "FOLDER/x\u{FFFD}.db is not UTF-8; choose another name"),
            ("marquee export $n.db", "FOLDER/x\u{FFFD}.db is not UTF-8; choose another name"),
            ("marquee list --catalogue $n.db", "FOLDER/x\u{FFFD}.db is not UTF-8; choose another name"),
            (
                "MARQUEE_CACHE_DIR=$n marquee fetch n.jpg",
                "MARQUEE_CACHE_DIR is not UTF-8; set it to another name"
            ),
            ("HOME=/tmp/$n marquee fetch n.jpg", "HOME is not UTF-8; set it to another name"),
            (
                "XDG_CACHE_HOME=/tmp/$n marquee fetch n.jpg",
                "XDG_CACHE_HOME is not UTF-8; set it to another name"
            ),
            (
                "XDG_CONFIG_HOME=/tmp/$n marquee fetch n.jpg",
                "XDG_CONFIG_HOME is not UTF-8; set it to another name"
            ),
        ])
    func refused(line: String, message: String) async throws {
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        let run = try await run("cp f.db $n.db && { \(line); s=$?; rm $n.db; exit $s; }")
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.errorText == "marquee: \(message.replacing("FOLDER", with: folder.path))\n")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test(
        "in a folder whose name is not UTF-8 files are shown and written",
        arguments: [
            "marquee show n.jpg", "marquee show ./n.jpg",
            "marquee fetch metropolis -o y.jpg && test -s y.jpg",
            "marquee fetch metropolis -o d && test -s d/metropolis.jpg",
            "marquee picture n.jpg w20 -o y.jpg && test -s y.jpg && marquee picture n.jpg w30 -o y.jpg",
            "marquee export ../f.db -o f.json && test -s f.json", "cp n.jpg m$n && marquee show m$n",
        ])
    func inFolder(line: String) async throws {
        let run = try await run("mkdir $n && cp n.jpg $n && cd $n && \(line)")
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errorText)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("x\u{FFFD}")))
    }

    @Test(
        "a folder of pictures with such a name is named truly",
        arguments: ["show $n", "$n", "list --catalogue $n"])
    func pictures(line: String) async throws {
        let run = try await run("mkdir $n && cp n.jpg $n && marquee \(line)")
        #expect(run.status == 2)
        #expect(
            run.errorText
                == "marquee: \(folder.path)/x\u{FFFD}: cannot be read: it is a folder whose name is not UTF-8\n"
        )
    }
}
