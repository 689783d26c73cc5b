import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("marquee jobs", .bounded)
struct JobProgramTests {
    @Test("a job works like prewarm, reports its outcome, and its name is unique")
    func whole() async throws {
        let fixture = try JobFixture(20)
        let started = try await fixture.detach("night")
        #expect(started.status == 0 && started.errors.isEmpty, "\(started.errorText)")
        #expect(started.text == "job night  20 images   marquee jobs attach night\n")
        let waited = try await fixture.run("jobs", "wait", "night")
        #expect(waited.status == 0 && waited.output.isEmpty && waited.errors.isEmpty)
        #expect(fixture.requests.count == 20 && fixture.requests.values.allSatisfy { $0 == 1 })
        #expect(try await fixture.run("jobs").text == "job night  done  20 of 20 images\n")
        let listed = try JSON.array(try await fixture.run("jobs", "--json").text)
        #expect(listed.map { $0["name"] as? String } == ["night"])
        let attached = try await fixture.run("jobs", "attach", "night")
        #expect(attached.lines.count == 21 && attached.status == 0)
        #expect(attached.lines.last?.hasPrefix("20 fetched (") == true)
        for action in ["resume", "cancel"] {
            #expect(try await fixture.run("jobs", action, "night").status == 2)
        }
        let second = try await fixture.detach("night")
        #expect(second.status == 2)
        #expect(
            second.errorText
                == "marquee: job night exists, but is not running; continue with marquee jobs resume night, or remove it with marquee jobs remove night\n"
        )
        #expect(try await fixture.run("jobs", "remove", "night").status == 0)
        #expect(try await fixture.run("jobs", "wait", "night").status == 2)
        #expect(try await fixture.run("jobs").output.isEmpty)
        #expect(try await fixture.run("jobs", "--json").text == "[]\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.jobs.folder).isEmpty)
    }

    @Test("without --name a job has its manifest's name, with a number if that is taken")
    func names() async throws {
        let fixture = try JobFixture(1)
        for name in ["list", "list-2"] {
            let started = try await fixture.run(
                "prewarm", fixture.home.file("list.txt"), "--any-content", "--detach")
            #expect(started.text == "job \(name)  1 image   marquee jobs attach \(name)\n")
            #expect(try await fixture.run("jobs", "wait", name).status == 0)
        }
        #expect(try await fixture.detach("../up").errorText.contains("is not a valid job name"))
        #expect(
            try await fixture.run("prewarm", "--name", "x").errorText.contains(
                "works only with prewarm --detach"))
    }

    @Test("a job has its own session in /, no terminal, and no inherited descriptors")
    func alone() async throws {
        let gate = Gate()
        let fixture = try JobFixture(4, holding: (0, gate))
        let started = try await Program.shell(
            "exec 9</dev/zero; \"$MARQUEE\" prewarm \"$HOME/list.txt\" --any-content --detach --name alone "
                + JobFixture.patienceInShell,
            environment: fixture.environment)
        #expect(started.status == 0, "\(started.errorText)")
        try await fixture.origin.requests.wait(for: 1)
        let job = try fixture.jobs.job("alone")
        let process = try #require(try job.status.process)
        func link(_ name: String) throws -> String {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/\(name)")
        }
        #expect(getsid(process) == process)
        #expect(try link("cwd") == "/" && link("fd/0") == "/dev/null")
        #expect(try link("fd/1").hasSuffix("/jobs/alone/log") && link("fd/2") == link("fd/1"))
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        #expect(try open.allSatisfy { name in try Int(name) != 9 || link("fd/9") != "/dev/zero" })
        let second = try await fixture.detach("alone")
        #expect(second.status == 2 && second.errorText.hasPrefix("marquee: job alone is running; "))
        #expect(
            try await fixture.run("jobs", "remove", "alone").errorText
                == "marquee: job alone is running; end it first with marquee jobs cancel alone\n")
        #expect(
            try await fixture.run("jobs", "resume", "alone").errorText
                == "marquee: job alone is running; follow it with marquee jobs attach alone\n")
        gate.open()
        #expect(await job.completion() == 0)
    }

    @Test("a job continues when its terminal is closed, and when its shell is killed")
    func left() async throws {
        let gate = Gate()
        let fixture = try JobFixture(8, holding: (2, gate))
        let shell =
            "\"$MARQUEE\" prewarm \"$HOME/list.txt\" --any-content --detach --name $0 "
            + "\(JobFixture.patienceInShell); cat"
        let variables = fixture.environment.merging(["MARQUEE": BuiltProgram.path("marquee")]) { $1 }
        let terminal = try PseudoTerminal("/bin/sh", ["-c", shell, "hung"], environment: variables)
        #expect(terminal.waits { $0.rows.joined().contains("job hung  8 images") })
        terminal.hangUp()
        _ = terminal.waitForEnd()
        let killed = try Program(
            ["-c", shell, "killed"], of: "/bin/sh", keepsInput: true, environment: variables)
        #expect(await killed.nextLine()?.hasPrefix("job killed") == true)
        killed.send(SIGKILL)
        gate.open()
        for name in ["hung", "killed"] {
            #expect(await (try fixture.jobs.job(name)).completion() == 0, "\(name)")
            #expect(try Set(fixture.finished(name)).count == 8)
        }
    }

    @Test("two processes can attach at once and see the same; Ctrl-C leaves the job running")
    func attached() async throws {
        let gate = Gate()
        let fixture = try JobFixture(12, holding: (5, gate))
        _ = try await fixture.detach("night")
        let attached = try (0..<3).map { _ in
            try Program(["jobs", "attach", "night"], environment: fixture.environment)
        }
        for program in attached { #expect(await program.nextLine() != nil) }
        let left = await attached[2].end(SIGINT)
        #expect(left.status == -SIGINT)
        #expect(
            left.errorText.hasPrefix("marquee: job night keeps running; marquee jobs attach night"),
            "\(left.errorText)")
        gate.open()
        let outcomes = [await attached[0].outcome(), await attached[1].outcome()]
        for outcome in outcomes {
            #expect(outcome.status == 0 && outcome.lines.count == 13, "\(outcome.text)")
            #expect(outcome.lines.last?.hasPrefix("12 fetched") == true)
        }
        #expect(outcomes[0].lines == outcomes[1].lines)
    }

    @Test(
        "an attached terminal shows the bytes of a running transfer as they arrive, and their rate",
        .ownThread)
    func traffic() async throws {
        let (second, third) = (Gate(), Gate())
        let part = [UInt8](repeating: 7, count: 100 * 1024)
        let origin = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(3 * part.count)\r\n\r\n"),
            .sendBytes(part),
            .wait(second), .sendBytes(part), .wait(third), .sendBytes(part),
        ])
        let fixture = try JobFixture(1)
        try fixture.writeList([origin.url()])
        #expect(try await fixture.detach("night").status == 0)
        let ended = try attach(fixture, opening: second, third)
        #expect(ended == .exited(0))
    }

    private func attach(
        _ fixture: JobFixture, opening second: Gate, _ third: Gate
    ) throws -> PseudoTerminal.Ending? {
        defer { third.open() }
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), ["jobs", "attach", "night"], environment: fixture.environment,
            columns: 120)
        try #require(
            terminal.waits { $0.row(containing: "100 KiB of 300 KiB") != nil }, "\(terminal.screen.rows)")
        second.open()
        try #require(
            terminal.waits { screen in
                screen.rows.contains { $0.contains("200 KiB of 300 KiB") && !$0.contains(" 0 bytes/s") }
            }, "\(terminal.screen.rows)")
        third.open()
        return terminal.waitForEnd()
    }

    @Test("a cancelled job ends with 130, and resume fetches only the rest")
    func cancelled() async throws {
        let gate = Gate()
        let fixture = try JobFixture(12, holding: (5, gate))
        _ = try await fixture.detach("night", "--per-host", "1")
        try await fixture.origin.requests.wait(for: 6)
        // The sixth request may come before the fifth image is counted.
        try await eventually { try fixture.finished("night").count == 5 }
        let waiting = try Program(["jobs", "wait", "night"], environment: fixture.environment)
        let cancelled = try await fixture.run("jobs", "cancel", "night")
        #expect(cancelled.status == 0)
        #expect(cancelled.text.hasPrefix("job night  cancelled (marquee jobs resume night)  5 of 12 images"))
        #expect(await waiting.outcome().status == 130)
        gate.open()
        let finished = try fixture.finished("night")
        #expect(try await fixture.run("jobs", "resume", "night").status == 0)
        #expect(try await fixture.run("jobs", "wait", "night").status == 0)
        #expect(finished.count == 5 && finished.allSatisfy { fixture.requests[$0] == 1 })
        #expect(try Set(fixture.finished("night")).count == 12)
    }

    @Test("failures are reported and end the job with 1; resume retries them")
    func failing() async throws {
        let fixture = try JobFixture(3)
        let list = try String(contentsOf: URL(filePath: fixture.home.file("list.txt")), encoding: .utf8)
        try fixture.home.write(list + "\nftp://example.org/a.png\nfile:///nowhere/a.png\n", to: "list.txt")
        let started = try await fixture.detach("night")
        #expect(started.status == 0 && started.errorText.contains("line 4: ftp://example.org/a.png"))
        #expect(try await fixture.run("jobs", "wait", "night").status == 1)
        #expect(try await fixture.run("jobs").text == "job night  failed  5 of 5 images, 2 failed\n")
        let attached = try await fixture.run("jobs", "attach", "night")
        #expect(attached.status == 1 && attached.errorText.contains("/nowhere/a.png"))
        #expect(
            attached.lines.last?.contains("3 fetched") == true
                && attached.lines.last?.contains("2 failed") == true)
        let log = try String(
            contentsOf: URL(filePath: fixture.jobs.folder + "/night/log"), encoding: .utf8)
        #expect(log.contains("/nowhere/a.png"))
        #expect(try await fixture.run("jobs", "resume", "night").status == 0)
        #expect(try await fixture.run("jobs", "wait", "night").status == 1)
        #expect(fixture.requests.values.allSatisfy { $0 == 1 })
    }
}
