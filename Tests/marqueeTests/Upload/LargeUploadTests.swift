import FoundationEssentials
import HTTPSemantics
import HTTPServer
import SystemSupport
import TestSupport
import TestTraits
import Testing

/// A body too large for memory, to this project's server and to nginx. It has 64 MiB.
/// `MARQUEE_LARGE_UPLOAD=2048` makes it 2 GiB, for a run of only this suite, which then also checks the
/// server's memory.
@Suite("A large upload", .bounded, .ownThread)
struct LargeUploadTests {
    /// The permitted growth of a process's memory, in KiB.
    private static let growthLimit = 8 * 1024
    private static let asked = ProcessInfo.processInfo.environment["MARQUEE_LARGE_UPLOAD"].flatMap { Int($0) }

    private let folder: TemporaryFolder
    private let environment: [String: String]
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("large")
        environment = [
            "HOME": folder.path, "XDG_CACHE_HOME": folder.path, "TMPDIR": folder.path,
            "MARQUEE_CREDENTIALS": "127.0.0.1 anna:secret",
        ]
        // A sparse file, with bytes at both ends and in the middle.
        let megabytes = Self.asked ?? 64
        _ = Shell.output(
            """
            exec 2>&1; truncate -s \(megabytes)M '\(path)'
            for at in 0 \(megabytes / 2) \(megabytes - 1); do
                head -c 1M /dev/urandom | dd of='\(path)' bs=1M seek=$at conv=notrunc
            done
            """)
        try #require(Self.isSame(path, path) && !Self.isSame(path, "/dev/null"))
    }

    private static func isSame(_ path: String, _ copy: String) -> Bool {
        Shell.output("cmp '\(path)' \(copy) 2>&1 && echo same") == "same\n"
    }

    /// Records each request: its target, whether its body is the file, and the client's peak memory before and
    /// after the body.
    private final class Room: HTTPHandler {
        struct Visit: Sendable {
            let target: String
            let isWhole: Bool
            let before: Int
            let after: Int
        }

        private let path: String
        private let starts = Lock<[Int]>([])
        private let done = Lock<[Visit]>([])

        var visits: [Visit] { done.withLock { $0 } }

        init(_ path: String) { self.path = path }

        /// The client's process id comes from its header.
        private static func clientPeak(_ head: RequestHead) -> Int {
            ProcessMemory.peak(of: head.value(of: "x-process") ?? "")
        }

        func admit(_ head: RequestHead, from peer: Peer) -> Admission {
            starts.withLock { $0.append(Self.clientPeak(head)) }
            return .handle(bodyLimit: 4 << 30) { [self] body in respond(to: head, body) }
        }

        private func respond(to head: RequestHead, _ body: RequestBody) -> HTTPResponse {
            let after = Self.clientPeak(head)
            guard case .file(let file) = body else { return .plain(.badRequest) }
            let isWhole = LargeUploadTests.isSame(path, "/proc/$PPID/fd/\(file.descriptor.number)")
            let before = starts.withLock { $0.last ?? 0 }
            done.withLock {
                $0.append(
                    Visit(target: head.target, isWhole: isWhole, before: before, after: after))
            }
            switch head.target {
            case "/private" where head.value(of: "authorization") == nil:
                var answer = HTTPResponse.plain(.unauthorized)
                answer.fields["WWW-Authenticate"] = "Basic realm=\"films\""
                return answer
            case "/sent-on":
                return HTTPResponse(status: HTTPStatus(rawValue: 307), fields: ["Location": "/kept"])
            default: return HTTPResponse(status: .created)
            }
        }
    }

    private func upload(to url: String) async throws -> Program.Outcome {
        try await Program.shell(
            "exec \"$MARQUEE\" upload '\(path)' '\(url)' --header \"X-Process: $$\" --timeout 600 --json",
            environment: environment)
    }

    @Test(
        "it reaches this project's server whole, also after a 401 and a 307, and no memory grows with it"
    )
    func room() async throws {
        let room = Room(path)
        var configuration = HTTPServer.Configuration()
        configuration.temporaryFolder = folder.path
        let server = try HTTPServer(configuration: configuration, handler: room)
        try server.start()
        defer { server.stop() }
        let port = try #require(server.ports.first ?? nil)
        ProcessMemory.forgetPeak()
        let before = ProcessMemory.peak(of: "self")
        for target in ["/plain", "/private", "/sent-on"] {
            let run = try await upload(to: "http://127.0.0.1:\(port)\(target)")
            #expect(run.status == 0, "\(run.errorText)")
        }
        let grown = ProcessMemory.peak(of: "self") - before
        #expect(room.visits.map(\.target) == ["/plain", "/private", "/private", "/sent-on", "/kept"])
        for visit in room.visits {
            #expect(visit.isWhole && visit.before > 0, "\(visit.target)")
            #expect(visit.after - visit.before <= Self.growthLimit, "\(visit)")
        }
        guard let asked = Self.asked else { return }
        #expect(grown <= Self.growthLimit)
        print("\(asked) MiB: the server grew by \(grown) KiB, the client by")
        for visit in room.visits {
            print("  \(visit.after - visit.before) KiB of \(visit.after) \(visit.target)")
        }
    }

    @Test(
        "it reaches nginx whole, also after a 401 and a 307",
        .enabled(if: NginxDAV.isInstalled, "nginx with its DAV module is not installed"))
    func nginx() async throws {
        let server = try await NginxDAV()
        let small = try await Program.run(
            ["upload", "-", server.url("/small").absoluteString], input: "x", environment: environment)
        #expect(small.status == 0)
        let before = server.peakMemory
        for (target, kept) in [
            ("/plain", "/plain"), ("/private/a", "/private/a"), ("/sent-on/b", "/kept/b"),
        ] {
            let run = try await upload(to: server.url(target).absoluteString)
            #expect(run.status == 0, "\(run.errorText)")
            #expect(Self.isSame(path, "'\(server.file(kept))'"), "\(target)")
            try FileManager.default.removeItem(atPath: server.file(kept))
        }
        let grown = server.peakMemory - before
        #expect(before > 0 && grown <= Self.growthLimit)
        if let asked = Self.asked { print("\(asked) MiB: nginx grew by \(grown) KiB of \(before)") }
    }
}
