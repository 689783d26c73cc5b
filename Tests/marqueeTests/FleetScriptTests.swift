import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@Suite("sample-data/fleet/run.sh", .bounded)
struct FleetScriptTests {
    private static let hasNginx = NginxDAV.isInstalled
    private static let hasHAProxy = !Shell.output("PATH=$PATH:/usr/sbin command -v haproxy").isEmpty
    private static let script = FileManager.default.currentDirectoryPath + "/sample-data/fleet/run.sh"

    private func start(
        _ sample: SmallSample, _ words: String...
    ) throws -> (program: Program, scratch: TemporaryFolder) {
        let scratch = try TemporaryFolder()
        let program = try Program(
            [try sample.fleetScript()] + words, of: "/bin/bash",
            environment: ["MARQUEE": BuiltProgram.path("marquee"), "TMPDIR": scratch.path])
        return (program, scratch)
    }

    /// The processes that have the folder in their command line. pgrep takes the shell's place: a shell that is just
    /// starting a command has the folder in its own.
    private func processes(_ folder: TemporaryFolder) -> String {
        Shell.output("exec pgrep -f '\(folder.path)'")
    }

    private func serves(_ balancer: String, end signal: Int32, status: Int32) async throws {
        let sample = try SmallSample()
        let (program, scratch) = try start(sample, "2", balancer)
        let line = try #require(await program.nextLine())
        let address = try #require(URL(string: line))
        let client = try RawClient(port: UInt16(try #require(address.port)))
        for film in ["metropolis", "nosferatu", "haxan"] {
            #expect(try client.get("/films/\(film)/poster/w92").status == 200)
        }
        #expect(!processes(scratch).isEmpty)
        program.send(signal)
        let outcome = await program.outcome()
        #expect(outcome.status == status, "\(outcome.errorText)")
        #expect(processes(scratch).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    @Test(
        "nginx in front of instances serves pictures, and Ctrl-C leaves nothing behind",
        .enabled(if: hasNginx, "nginx is not installed"))
    func nginx() async throws { try await serves("nginx", end: SIGINT, status: 130) }

    @Test(
        "HAProxy in front of instances serves pictures, and SIGTERM leaves nothing behind",
        .enabled(if: hasNginx && hasHAProxy, "nginx or haproxy is not installed"))
    func haproxy() async throws { try await serves("haproxy", end: SIGTERM, status: 143) }

    @Test("a program that is missing is named, with the way to install it")
    func missing() async throws {
        let scratch = try TemporaryFolder()
        for tool in ["bash", "dirname", "seq", "mktemp"] {
            try FileManager.default.createSymbolicLink(
                atPath: scratch.file(tool), withDestinationPath: "/usr/bin/" + tool)
        }
        // The script adds the folders where Debian has balancers; there are none with these names.
        let outcome = try await Program(
            [Self.script, "2", "haproxy"], of: "/bin/bash",
            environment: ["PATH": scratch.path, "FLEET_PROGRAMS": scratch.path]
        ).outcome()
        #expect(outcome.status == 1)
        #expect(
            outcome.errorText
                == "run.sh: nginx haproxy is missing; install it with: apt-get install nginx haproxy\n")
    }

    @Test(
        "a command line that cannot be obeyed has status 2",
        arguments: [[], ["0"], ["two"], ["2", "nginx", "3"]])
    func usage(_ words: [String]) async throws {
        let outcome = try await Program([Self.script] + words, of: "/bin/bash").outcome()
        #expect(outcome.status == 2)
        #expect(outcome.errorText.hasPrefix("usage: run.sh N"))
    }
}
