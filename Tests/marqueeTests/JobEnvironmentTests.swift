import BackgroundTransfers
import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import marquee

/// A job's secrets, disk and network.
@Suite("marquee jobs: secrets, disk, network", .bounded)
struct JobEnvironmentTests {
    @Test("secrets reach the server, and are in no file, on no command line and in no environment")
    func secrets() async throws {
        let gate = Gate()
        let fixture = try JobFixture(3, holding: (1, gate))
        let file = try fixture.home.write("127.0.0.1 anna:sesame2", to: "credentials")
        unsafe chmod(file, 0o600)
        let variables = fixture.environment.merging(["MARQUEE_CREDENTIALS": "nas.local anna:sesame3"]) { $1 }
        let started = try await Program.run(
            [
                "prewarm", fixture.home.file("list.txt"), "--any-content", "--detach", "--name", "night",
                "--header", "X-Key: sesame1", "--credentials-file", file,
            ] + JobFixture.patience, environment: variables)
        #expect(started.status == 0, "\(started.errorText)")
        try await fixture.origin.requests.wait(for: 2)
        #expect(fixture.origin.heads.allSatisfy { $0.contains("X-Key: sesame1") })
        let job = try fixture.jobs.job("night")
        let process = try #require(try job.status.process)
        for path in ["/proc/\(process)/cmdline", "/proc/\(process)/environ"] {
            let text = String(decoding: try FileCalls().contents(ofPath: path), as: UTF8.self)
            #expect(!text.contains("sesame") && !text.isEmpty, "\(path): \(text)")
        }
        let folder = fixture.jobs.folder + "/night"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name != "control" {
            let text = String(decoding: try FileCalls().contents(ofPath: folder + "/" + name), as: UTF8.self)
            #expect(!text.contains("sesame"), "\(name)")
        }
        try job.cancel()
        #expect(await job.completion() == 130)
        gate.open()
        let without = try await fixture.run("jobs", "resume", "night")
        #expect(without.status == 2)
        #expect(
            without.errorText
                == "marquee: job night was started with --header and MARQUEE_CREDENTIALS or --credentials-file, which is not stored: pass it again\n"
        )
        let with = try await Program.run(
            ["jobs", "resume", "night", "--header", "X-Key: sesame4"], environment: variables)
        #expect(with.status == 0, "\(with.errorText)")
        #expect(await job.completion() == 0)
        #expect(fixture.origin.heads.last?.contains("X-Key: sesame4") == true)
        // An address with a password would be stored.
        let address = "http://anna:sesame@127.0.0.1:\(fixture.origin.port)/0"
        let refused = try await Program.run(
            ["prewarm", "-", "--detach"], input: address, environment: fixture.environment)
        #expect(refused.status == 2 && refused.errorText.contains("give it with --credentials-file"))
        #expect(!refused.errorText.contains("sesame"))
    }

    @Test(
        "relative paths of certificates work, although a job runs in /",
        .enabled(if: TLSServer.isInstalled, "openssl is not installed"))
    func relativePaths() async throws {
        let client = try ClientKey()
        let server = try await TLSServer.start(
            serving: SampleImages.png,
            options: "-tls1_2 -Verify 1 -verify_return_error -CAfile '\(client.certificateFile)'")
        let fixture = try JobFixture(1)
        try fixture.writeList([server.url()])
        let outcome = try await Program.shell(
            """
            cd "$HOME" && mkdir tls
            cp '\(server.certificateFile)' tls/server.pem
            cp '\(client.certificateFile)' tls/client.pem
            cp '\(client.keyFile)' tls/key.pem
            "$MARQUEE" prewarm list.txt --detach --name tls --cache-dir cache --min-tls localhost=1.2 \
                --trust localhost=tls/server.pem --cert localhost=tls/client.pem --key=localhost=tls/key.pem
            "$MARQUEE" jobs wait tls; echo $?
            "$MARQUEE" jobs attach tls
            """, environment: fixture.environment)
        #expect(outcome.lines.dropFirst().first == "0", "\(outcome.text)\(outcome.errorText)")
        let order = try String(
            contentsOf: URL(filePath: fixture.jobs.folder + "/tls/order"), encoding: .utf8)
        #expect(order.contains("localhost=\(fixture.home.path)/tls/key.pem".replacing("/", with: "\\/")))
        #expect(!order.contains("PRIVATE KEY"))
    }

    @Test("a state folder that cannot be created is an error on one line")
    func noFolder() async throws {
        let fixture = try JobFixture(1)
        for state in ["/proc/nowhere", fixture.home.file("list.txt")] {
            let variables = fixture.environment.merging(["XDG_STATE_HOME": state]) { $1 }
            let started = try await Program.run(
                ["prewarm", fixture.home.file("list.txt"), "--any-content", "--detach"],
                environment: variables)
            #expect(started.status == 2 && started.errorLines.count == 1 && started.output.isEmpty)
            #expect(
                started.errorText.contains("set XDG_STATE_HOME to a writable folder"),
                "\(started.errorText)")
        }
        #expect(fixture.requests.isEmpty)
    }

    /// Whether this user can mount in a separate namespace.
    private static let canMount =
        Shell.output("unshare -rm mount -t tmpfs -o size=1m none /mnt 2>&1") == ""

    /// Runs a script in a separate mount namespace.
    private func mounted(_ script: String, _ fixture: JobFixture) async throws -> Program.Outcome {
        let variables = fixture.environment.merging([
            "MARQUEE": BuiltProgram.path("marquee"), "XDG_STATE_HOME": fixture.home.file("state"),
        ]) { $1 }
        return try await Program(["-rm", "sh", "-c", script], of: "/usr/bin/unshare", environment: variables)
            .outcome()
    }

    @Test(
        "on a read-only disk no job starts, and nothing is lost",
        .enabled(if: canMount, "needs unshare -rm and mount (util-linux)"))
    func readOnly() async throws {
        let fixture = try JobFixture(3)
        let outcome = try await mounted(
            """
            mkdir "$XDG_STATE_HOME"
            start() { "$MARQUEE" prewarm "$HOME/list.txt" --any-content --detach --name $1; }
            start one >/dev/null && "$MARQUEE" jobs wait one
            mount --bind "$XDG_STATE_HOME" "$XDG_STATE_HOME" && mount -o remount,ro,bind "$XDG_STATE_HOME"
            start two; echo $?
            "$MARQUEE" jobs remove one; echo $?
            "$MARQUEE" jobs
            "$MARQUEE" jobs attach one | tail -1
            """, fixture)
        #expect(outcome.lines.count == 4, "\(outcome.text)")
        #expect(outcome.lines.prefix(3) == ["2", "2", "job one  done  3 of 3 images"])
        #expect(outcome.lines.last?.hasPrefix("3 fetched") == true)
        #expect(outcome.errorLines.count == 2)
        #expect(outcome.errorLines.allSatisfy { $0.contains("Read-only file system; set XDG_STATE_HOME") })
    }

    /// A command that runs a program as an unprivileged user, or nil.
    private static let asUser =
        geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "env"
    private static let canBeUser =
        Shell.output("\(asUser) \(Shell.quoted(BuiltProgram.path("marquee"))) --version") != ""

    @Test(
        "in a read-only state folder no job starts, and nothing is lost",
        .enabled(
            if: canBeUser, "where root runs the tests: needs setpriv (util-linux) and a build all can read")
    )
    func readOnlyFolder() async throws {
        let fixture = try JobFixture(3)
        let outcome = try await Program.shell(
            """
            [ $(id -u) = 0 ] && chown -R 65534 "$HOME"
            exec \(Self.asUser) sh -c '
                start() { "$MARQUEE" prewarm "$HOME/list.txt" --any-content --detach --name $1; }
                start one >/dev/null && "$MARQUEE" jobs wait one
                chmod -R a-w "$HOME/.local"
                start two; echo $?
                "$MARQUEE" jobs remove one; echo $?
                "$MARQUEE" jobs resume one; echo $?
                "$MARQUEE" jobs
                "$MARQUEE" jobs attach one | tail -1
                chmod -R u+w "$HOME/.local"
                "$MARQUEE" jobs remove one; echo $?
            '
            """, environment: fixture.environment)
        #expect(outcome.lines.count == 6, "\(outcome.text)")
        #expect(outcome.lines.prefix(4) == ["2", "2", "2", "job one  done  3 of 3 images"])
        #expect(outcome.lines[4].hasPrefix("3 fetched") && outcome.lines[5] == "0")
        #expect(outcome.errorLines.count == 3, "\(outcome.errorText)")
        #expect(outcome.errorLines.allSatisfy { $0.contains("Permission denied; set XDG_STATE_HOME") })
    }

    @Test(
        "on a full disk a job stops, and continues when there is room again",
        .enabled(if: canMount, "needs unshare -rm and mount (util-linux)"))
    func full() async throws {
        let fixture = try JobFixture(200)
        let outcome = try await mounted(
            """
            mkdir "$XDG_STATE_HOME" && mount -t tmpfs -o size=1m none "$XDG_STATE_HOME"
            start() { "$MARQUEE" prewarm "$HOME/list.txt" --any-content --detach --name $1; }
            head -c 1011712 /dev/zero > "$XDG_STATE_HOME/filling"
            start one >/dev/null; "$MARQUEE" jobs wait one; echo $?
            start two; echo $?
            ls -A "$XDG_STATE_HOME/marquee/jobs"
            rm "$XDG_STATE_HOME/filling"
            "$MARQUEE" jobs resume one >/dev/null && "$MARQUEE" jobs wait one; echo $?
            "$MARQUEE" jobs
            """, fixture)
        #expect(
            outcome.lines == ["2", "2", "one", "0", "job one  done  200 of 200 images"], "\(outcome.text)")
        #expect(outcome.errorLines.count == 2, "\(outcome.errorText)")
        #expect(outcome.errorLines.last?.contains("No space left on device; set XDG_STATE_HOME") == true)
        #expect(fixture.requests.count == 200 && fixture.requests.values.allSatisfy { $0 == 1 })
    }

    @Test(
        "without a network a job waits and says so, and continues when there is one",
        .enabled(
            if: NetworkNamespace.isPossible, "\(NetworkNamespace.requirement)"))
    func network() async throws {
        let home = try TemporaryFolder()
        try home.write("http://192.0.2.2:8765/posters/1.png", to: "list.txt")
        try home.write(Fixture.pixel, to: "films/posters/1.png")
        try home.write(Fixture.films(1), to: "films/movies.json")
        let script = """
            ip link set lo up
            mkfifo "$HOME/served"
            "$MARQUEE" serve --address 0.0.0.0 --port 8765 "$HOME/films" > "$HOME/served" & service=$!
            read -r line < "$HOME/served"
            "$MARQUEE" prewarm "$HOME/list.txt" --insecure-http 192.0.2.2 --detach --name night
            mkfifo "$HOME/said"
            "$MARQUEE" jobs attach night >/dev/null 2> "$HOME/said" & attached=$!
            read -r line < "$HOME/said"
            echo "$line"
            "$MARQUEE" jobs
            ip link add eth7 type veth peer name far7
            for name in far7 eth7; do ip link set $name addrgenmode none; ip link set $name up; done
            ip addr add 192.0.2.2/24 dev eth7
            "$MARQUEE" jobs wait night; echo $?
            "$MARQUEE" jobs
            wait $attached
            kill $service; wait $service
            """
        let outcome = try await Program(
            ["-rn", "sh", "-c", script], of: "/usr/bin/unshare",
            environment: ["HOME": home.path, "MARQUEE": BuiltProgram.path("marquee")]
        ).outcome()
        #expect(
            outcome.lines == [
                "job night  1 image   marquee jobs attach night",
                "marquee: job night is waiting for the network",
                "job night  waiting for the network  0 of 1 images", "0", "job night  done  1 of 1 images",
            ], "\(outcome.text)\(outcome.errorText)")
    }

    @Test("--no-cellular refuses a mobile network with its own error")
    func cellular() {
        let path = NetworkPath(reach: .internet, link: .cellular, interface: "wwan0")
        let error = #expect(throws: Failure.self) { try CellularRefusal.check(path) }
        #expect(
            error?.code == "cellular-refused"
                && error?.description.contains("(wwan0), which --no-cellular") == true)
        #expect(throws: Never.self) {
            try CellularRefusal.check(NetworkPath(reach: .internet, link: .wifi, interface: "wlan0"))
        }
    }
}
