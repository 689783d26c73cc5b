import Glibc
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("The program's ends follow a shell's conventions", .bounded)
struct EndingTests {
    @Test("a closed reader is no error")
    func closedPipe() async throws {
        let fixture = try Fixture()
        let result = try await Program.shell(
            "{ \"$MARQUEE\" list --json; echo $? >&2; } | true; { \"$MARQUEE\" prewarm; echo $? >&2; } | head -1",
            environment: fixture.environment)
        // The prewarm may end before its reader, and then sums up.
        #expect(
            result.errorLines.allSatisfy { $0 == "0" || $0.hasPrefix("marquee: 6 fetched") },
            "\(result.errorText)")
    }

    @Test("a full disk under the output is an error")
    func fullDevice() async throws {
        let fixture = try Fixture()
        let result = try await Program.shell(
            "\"$MARQUEE\" list > /dev/full", environment: fixture.environment)
        #expect(result.status == 1)
        #expect(result.errorText == "marquee: standard output cannot be written: No space left on device\n")
    }

    /// The sanitizer's own files exceed the limit before the program starts.
    private static let takesFileSizeLimit: Bool = {
        #if THREAD_SANITIZER
            false
        #else
            true
        #endif
    }()

    @Test(
        "a cache above the file size limit is an error, and the signal is not fatal",
        .enabled(if: takesFileSizeLimit)
    )
    func fileSizeLimit() async throws {
        let fixture = try Fixture()
        let result = try await Program.shell(
            "ulimit -f 0; \"$MARQUEE\" prewarm 2>&1 >/dev/null | cat", environment: fixture.environment)
        #expect(result.text.contains("File too large; choose another folder"), "\(result.text)")
    }

    @Test("Ctrl-C while the program waits for standard input ends it at once")
    func awaitingInput() async throws {
        let fixture = try Fixture()
        for command in ["fetch", "prewarm"] {
            // More than a pipe holds: once all is written, the program is reading.
            let comments = String(repeating: "# nothing\n", count: 200_000)
            let program = try Program(
                [command, "-"], input: comments, keepsInput: true, environment: fixture.environment)
            await program.waitUntilInputIsRead()
            let outcome = await program.end(SIGINT)
            #expect(outcome.status == -SIGINT)
            #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
        }
    }

    @Test(
        "SIGTERM ends a fetch with 143, and SIGHUP with 129",
        arguments: [(SIGTERM, 143), (SIGHUP, 129)])
    func otherSignals(signal: Int32, status: Int) async throws {
        // The signal comes before the answer and any timeout, however late it is sent.
        let fixture = try Fixture { $0.server.latency = .seconds(600) }
        let program = try Program(
            ["fetch", "data:,x", "--any-content", "--timeout", "600", fixture.base + "posters/1.png"],
            environment: fixture.environment)
        #expect(await program.nextLine() != nil)
        program.send(signal)
        let outcome = await program.outcome()
        #expect(Int(outcome.status) == status)
        #expect(outcome.errors.isEmpty)
    }

    @Test("a signal that arrives twice at once counts once; a later one, or another signal, counts again")
    func echo() {
        let start = ContinuousClock.now
        let first = (number: SIGINT, time: start)
        #expect(Interruption.isRepetition(of: first, SIGINT, at: start + .milliseconds(5)))
        #expect(!Interruption.isRepetition(of: first, SIGTERM, at: start + .milliseconds(5)))
        #expect(!Interruption.isRepetition(of: first, SIGINT, at: start + .milliseconds(150)))
    }

    @Test("a signal that the parent ignores stays ignored")
    func ignoredSignal() async throws {
        let program = try Program(
            ["-c", "trap '' HUP; exec \"$MARQUEE\" serve --quiet"], of: "/bin/sh",
            environment: ["MARQUEE": BuiltProgram.path("marquee")])
        #expect(await program.nextLine() != nil)
        program.send(SIGHUP)
        #expect(await program.end(SIGTERM).status == 0)
    }
}
