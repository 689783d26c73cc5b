import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

/// Two instances with one library and one file of tokens, behind HAProxy.
@Suite("Sessions behind a balancer", .bounded)
struct BalancedSessionTests {
    private static let hasHAProxy = !Shell.output("PATH=$PATH:/usr/sbin command -v haproxy").isEmpty
    private let folder: TemporaryFolder
    private var socket: String { folder.file("haproxy.sock") }
    private let token = "0123456789abcdefghijklmn"

    init() throws { folder = try TemporaryFolder() }

    /// An instance, and its port.
    private func instance(port: UInt16 = 0) async throws -> (program: Program, port: UInt16) {
        let program = try Program(
            [
                "serve", folder.file("films.db"), "--writable", "--token-file", folder.file("tokens"),
                "--no-disk-cache", "--quiet", "--port", "\(port)", "--trusted-proxy", "127.0.0.1/32",
            ], environment: ["XDG_CACHE_HOME": folder.path])
        return (program, try await program.nextPort())
    }

    /// Starts HAProxy in front of two ports, at a local socket. It gives the requests to them in turn, and names each in
    /// a field.
    private func balancer(_ ports: [UInt16]) async throws -> Program {
        let servers = ports.map { "    server port-\($0) 127.0.0.1:\($0) check inter 100ms fall 1 rise 1\n" }
        let text = """
            defaults
                mode http
                timeout connect 60s
                timeout client 60s
                timeout server 60s
                retries 3
                option redispatch 1
                retry-on conn-failure empty-response
            frontend films
                bind unix@\(socket)
                option forwardfor
                http-response set-header X-Instance %s
                default_backend instances
            backend instances
                balance roundrobin
                option httpchk GET /films/a
                http-check send hdr Host localhost

            """
        let file = try folder.write(text + servers.joined(), to: "haproxy.cfg")
        let program = try Program(
            ["-c", "PATH=$PATH:/usr/sbin; exec haproxy -q -f '\(file)'"], of: "/bin/sh")
        // Ignored: it does not listen yet.
        try await eventually { (try? RawClient(path: socket)) != nil }
        return program
    }

    private func send(
        _ method: String, _ path: String, _ cookie: String? = nil, form: String? = nil
    ) throws -> RawClient.Answer {
        let fields = [
            "Connection: close",
            "Content-Type: application/\(form == nil ? "json" : "x-www-form-urlencoded")",
            cookie.map { "Cookie: \($0)" },
        ].compactMap(\.self)
        return try RawClient(path: socket).send(method, path, fields, body: (form ?? #"{"value":8}"#).utf8)
    }

    @Test(
        "a session writes through both instances, over restarts of each, until it is signed out at one of them",
        .enabled(if: hasHAProxy, "haproxy is not installed"))
    func restarts() async throws {
        let films = try folder.write(#"[{"id":"a","title":"A"}]"#, to: "films.json")
        #expect(try await Program.run(["import", films, folder.file("films.db")]).status == 0)
        try folder.write(token, to: "tokens")
        var instances = [try await instance(), try await instance()]
        let balancer = try await balancer(instances.map(\.port))
        defer { withExtendedLifetime(balancer) {} }

        func signIn() throws -> String {
            let answer = try send("POST", "/login", form: "token=\(token)")
            return String(try #require(answer.fields["set-cookie"]?.split(separator: ";").first))
        }
        /// The statuses of ten writes, and the instances that took them.
        func writes(_ cookie: String) throws -> (statuses: Set<Int>, instances: Set<String>) {
            var (statuses, instances) = (Set<Int>(), Set<String>())
            for number in 0..<10 {
                let answer = try send("PUT", "/films/a/ratings/rater-\(number)", cookie)
                statuses.insert(answer.status)
                instances.insert(answer.fields["x-instance"] ?? "")
            }
            return (statuses, instances)
        }
        let (cookie, other) = (try signIn(), try signIn())
        var known = try writes(cookie)
        #expect(known.statuses == [201] && known.instances.count == 2)
        for index in 0..<2 {
            let (program, number) = instances[index]
            #expect(await program.end(SIGTERM).status == 0)
            known = try writes(cookie)
            #expect(known.statuses == [200])
            instances[index] = try await instance(port: number)
            // Until the balancer has seen it.
            try await eventually { try writes(cookie).instances.count == 2 }
        }
        #expect(try send("POST", "/login", cookie, form: "out=1").status == 303)
        known = try writes(cookie)
        #expect(known.statuses == [401] && known.instances.count == 2)
        known = try writes(other)
        #expect(known.statuses == [200] && known.instances.count == 2)
        for index in 0..<2 {
            let (program, number) = instances[index]
            await program.end(SIGTERM)
            instances[index] = try await instance(port: number)
        }
        try await eventually { try writes(other).instances.count == 2 }
        #expect(try writes(cookie).statuses == [401])
    }
}
