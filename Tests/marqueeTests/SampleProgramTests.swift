import CSample
import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import marquee

/// The program alone, without its clone.
@Suite("The sample catalogue in the program", .bounded, .ownThread)
struct SampleProgramTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../sample-data").path

    @Test("the program has the films and every poster of sample-data, byte for byte")
    func files() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder + "/posters")
        for path in ["movies.json"] + names.map({ "posters/" + $0 }) {
            let bytes = try Data(contentsOf: URL(filePath: Self.folder + "/" + path))
            #expect(SampleCatalogue.file(path).map { Data($0) } == bytes, "\(path)")
        }
        #expect(csample_count() == names.count + 1)
    }

    /// A copy of the program in a folder of its own, where no parent has the sample's folder.
    private func alone() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.makeFolder("bin")
        try folder.makeFolder("empty")
        // Another process writes the file: the system runs no program that this one has open, or a child of it.
        let copy = try await Program.shell("cp \"$MARQUEE\" '\(folder.file("bin"))'", environment: [:])
        try #require(copy.status == 0)
        return folder
    }

    @Test("a copy of the program lists, fetches, imports and serves the sample from any folder")
    func copy() async throws {
        let folder = try await alone()
        func run(_ line: String, _ environment: [String: String] = [:]) async throws -> Program.Outcome {
            try await Program.shell(
                "cd '\(folder.file("empty"))' && m='\(folder.file("bin/marquee"))' && \(line)",
                environment: ["XDG_CACHE_HOME": folder.file("cache"), "HOME": folder.path].merging(
                    environment
                ) { $1 })
        }
        let first = try await run("$m list --plain")
        #expect(first.lines.count == 36, "\(first.errorText)")
        func start(_ words: [String]) throws -> PseudoTerminal {
            try PseudoTerminal(
                folder.file("bin/marquee"), words, environment: ["XDG_CACHE_HOME": folder.file("cache")],
                columns: 120)
        }
        let browser = try start([])
        #expect(browser.waits { $0.row(containing: "opens your own films") != nil }, "\(browser.screen.rows)")
        browser.quit("q")
        let posters = try await run("$m prewarm --quiet; echo $?; $m list --plain | grep -c 'cached$'")
        #expect(posters.lines.suffix(2) == ["0", "36"], "\(posters.errorText)")
        // Later starts do not say it again.
        let later = try start(["list", "--no-pager"])
        #expect(later.waitForEnd() == .exited(0))
        #expect(!String(decoding: later.output, as: UTF8.self).contains("opens your own films"))
        #expect(try await run("$m show metropolis").text.contains("  disk  "))
        let named = try await run("$m list --catalogue sample --top 1 --plain && $m import sample f.db")
        #expect(named.lines.last == "f.db: 36 films added; 36 posters stored", "\(named.errorText)")
        let offline = try await run("$m show metropolis --catalogue f.db --json --offline")
        #expect(offline.text.contains("\"status\":200"), "\(offline.text)")
        let advice = try await run("$m rate metropolis 3")
        #expect(
            advice.errorText == "marquee: the sample is read-only; make a library with marquee import sample "
                + "films.db, and name it with --catalogue films.db\n")
        let served = try await run(
            "mkdir t; TMPDIR=$PWD/t $m serve > address & pid=$!; "
                + "while [ ! -s address ]; do sleep 0.05; done; "
                + "$m list --catalogue $(cat address) --plain | wc -l; kill $pid; wait $pid; ls t | wc -l")
        #expect(served.lines.map { $0.filter(\.isNumber) } == ["36", "0"], "\(served.errorText)")
    }

    @Test(
        "it works without HOME, with an empty one, and with a folder that cannot be written",
        arguments: ["-u HOME", "HOME=", "HOME=/proc"])
    func homes(home: String) async throws {
        let folder = try await alone()
        let run = try await Program.shell(
            "cd '\(folder.file("empty"))' && env -u XDG_CACHE_HOME \(home) XDG_RUNTIME_DIR= '\(folder.file("bin/marquee"))' list --top 3 --plain",
            environment: [:])
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.lines.count == 3)
        #expect(FileManager.default.fileExists(atPath: folder.file("empty/.cache")) == false)
    }

    @Test("the sample's folder is imported with its posters too")
    func folder() async throws {
        let folder = try TemporaryFolder()
        let run = try await Program.shell(
            "cd \"$SAMPLE\"/.. && marquee import sample ~/f.db",
            environment: ["HOME": folder.path, "SAMPLE": Self.folder])
        #expect(run.text.hasSuffix("f.db: 36 films added; 36 posters stored\n"), "\(run.errorText)")
    }
}
