import FoundationEssentials
import Glibc
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("--shared", .bounded)
struct SharedStoreOptionTests {
    private let folder: TemporaryFolder
    private let keyFile: String

    init() throws {
        folder = try TemporaryFolder()
        keyFile = try folder.write("# since March\n\(String(repeating: "0b", count: 32))\n", to: "key")
    }

    private func settings(_ words: [String], _ environment: [String: String] = [:]) throws -> Settings {
        try Settings(
            Arguments(words), environment: environment)
    }

    @Test("the environment can name a store too")
    func environment() throws {
        #expect(try settings([]).shared == nil)
        let named = try settings(["--shared", "http://a/x", "--shared-key-file", keyFile])
        #expect(named.shared?.tier.address.displayText == "http://a/x/")
        let variables = ["MARQUEE_SHARED": "http://b/", "MARQUEE_SHARED_KEY_FILE": keyFile]
        #expect(try settings([], variables).shared?.tier.address.displayText == "http://b/")
        #expect(
            try settings(["--shared", "http://a/,read-only"], variables).shared?.tier.address.displayText
                == "http://a/")
    }

    @Test("an error about an address does not print its password")
    func faults() {
        let error = #expect(throws: UsageError.self) { try settings(["--shared", "ftp://a:sesame@b"]) }
        let text = error?.description ?? ""
        #expect(text.contains("--shared: \"ftp://b\" is not the address of a store"))
        #expect(!text.contains("sesame") && !text.contains("\n"))
    }

    @Test("two machines fetch a picture once between them")
    func fetch() async throws {
        let store = try StoreServer()
        let origin = try ScriptedOrigin(
            .answering(
                SampleImages.png, fields: "Content-Type: image/png\r\nCache-Control: max-age=600\r\n"))
        var outcomes: [String] = []
        // On a busy machine a read may be late. Then the program fetches, and the next one reads.
        while outcomes.last != "shared", outcomes.count < 10 {
            let machine = "machine-\(outcomes.count)"
            let outcome = try await Program.run(
                [
                    "fetch", origin.url().absoluteString, "--json", "--output", folder.file(machine),
                    "--cache-dir", folder.file("cache-" + machine), "--shared", store.address,
                    "--shared-key-file", keyFile,
                ], environment: ["HOME": folder.path])
            #expect(outcome.status == 0, "\(outcome.errorText)")
            outcomes.append(try #require(try JSON.object(outcome.lines[0])["outcome"] as? String))
        }
        #expect(outcomes.first == "network" && outcomes.last == "shared", "\(outcomes)")
        #expect(origin.requests.count == outcomes.count - 1)
    }

    /// A tier whose reads may take as long as a busy machine needs.
    private func tier(_ store: StoreServer, isReadOnly: Bool = false) throws -> SharedTier {
        var configuration = SharedTier.Configuration()
        configuration.isReadOnly = isReadOnly
        configuration.reading = .patient
        configuration.writing = .patient
        return try SharedTier(
            SharedTier.Address(store.address), keys: [[UInt8](repeating: 7, count: 32)],
            configuration: configuration)
    }

    @Test(
        "doctor writes, reads and removes a value, and says what the store does not do",
        arguments: [
            ("", "writes, reads and removes values"),
            ("GET", "does not answer like a store within a second: GET: status 405"),
            ("PUT", "does not accept values: PUT: status 405"), ("DELETE", "does not remove values"),
        ])
    func doctor(refused: String, message: String) async throws {
        let store = try StoreServer()
        if !refused.isEmpty { store.refusals.change { $0[refused] = "405 Method Not Allowed" } }
        let findings = await SharedStoreCheck.findings(try tier(store))
        #expect(findings.map(\.line).joined().contains(message))
        #expect(store.objects.value.isEmpty == (refused != "DELETE"))
        #expect(await SharedStoreCheck.findings(nil).isEmpty)
    }

    @Test("a file of shared keys may have several without names")
    func unnamedKeys() throws {
        let lines = ["0b", "0c"].map { String(repeating: $0, count: 32) }
        let keys = try folder.write(lines.joined(separator: "\n"), to: "keys")
        #expect(try settings(["--shared", "http://a/", "--shared-key-file", keys]).shared != nil)
    }

    @Test("doctor writes nothing to a read-only store")
    func doctorOfReadOnlyStore() async throws {
        let store = try StoreServer()
        let findings = await SharedStoreCheck.findings(try tier(store, isReadOnly: true))
        #expect(findings.map(\.line).joined().contains("answers; read-only"))
        #expect(store.count("PUT") == 0 && store.count("GET") == 1)
    }

    /// A picture service with a shared store.
    private func serve(_ origin: ScriptedOrigin, _ store: String, _ words: String...) async throws -> Service
    {
        try await Service(
            folder.path,
            [
                "--source", "127.0.0.1:\(origin.port)", "--allow-private", "127.0.0.0/8", "--cache-dir",
                folder.file("cache"), "--shared", store, "--shared-key-file", keyFile,
            ] + words)
    }

    @Test("the metrics show the store, and a dead store makes no request fail")
    func metrics() async throws {
        let port = try ClosedPort()
        let origin = try ScriptedOrigin(
            .answering(
                SampleImages.jpeg, fields: "Content-Type: image/jpeg\r\nCache-Control: max-age=600\r\n"))
        let service = try await serve(origin, "http://127.0.0.1:\(port.port)/", "--quiet")
        for number in 0..<4 {
            let source = Base64URL.encode(origin.url("/\(number).jpg").absoluteString.utf8)
            #expect(try RawClient(port: service.port).get("/image/-/w92/\(source)").status == 200)
        }
        let figures = String(decoding: try RawClient(port: service.admin).get("/metrics").body, as: UTF8.self)
        #expect(figures.contains("marquee_shared_paused{operation=\"read\"} 1"))
        #expect(figures.contains("marquee_shared_reads_total{result=\"hit\"} 0"))
        #expect(figures.contains("marquee_shared_writes_total{result=\"dropped\"}"))
        await service.program.end(SIGINT)
    }

    @Test(
        "a store that refuses all writes is in the health with its status, and a line says when it works again"
    )
    func refusingStore() async throws {
        let store = try StoreServer()
        store.refusals.change { $0["PUT"] = "403 Forbidden" }
        let origin = try ScriptedOrigin(
            .answering(
                SampleImages.jpeg, fields: "Content-Type: image/jpeg\r\nCache-Control: max-age=600\r\n"))
        let service = try await serve(origin, store.address, "--drain", "0")
        func health() throws -> String { try RawClient(port: service.admin).get("/health/ready").text }
        let count = Shared(0)
        func requestPicture() throws {
            let number = count.change { count in
                count += 1
                return count
            }
            let source = Base64URL.encode(origin.url("/\(number).jpg").absoluteString.utf8)
            #expect(try RawClient(port: service.port).get("/image/-/w92/\(source)").status == 200)
        }
        #expect(try health() == "200 OK\n")
        for _ in 0..<3 { try requestPicture() }
        try await eventually { try health().contains("writing pauses: PUT: status 403") }
        #expect(try RawClient(port: service.admin).get("/health/ready").status == 200)
        store.refusals.change { $0["PUT"] = nil }
        try await eventually {
            try requestPicture()
            return try health() == "200 OK\n"
        }
        let errors = await service.program.end(SIGINT).errorLines.filter { $0.contains("shared store") }
        #expect(errors.count == 2, "\(errors)")
        #expect(errors.first?.hasSuffix("writing pauses: PUT: status 403") == true)
        #expect(errors.last?.hasSuffix("writing works again") == true)
    }

    @Test("a job uses the store's password and the credentials of S3, and stores neither")
    func jobs() throws {
        func session(_ words: [String], _ environment: [String: String] = [:]) throws -> Session {
            let arguments = try Arguments(
                ["prewarm"] + words)
            return Session(
                arguments: arguments, settings: try Settings(arguments, environment: environment),
                output: Output(isQuiet: true), interruption: Interruption())
        }
        let plain = try JobSettings(
            session(["--shared", "http://a/,read-only", "--shared-key-file", keyFile]))
        #expect(plain.stored.contains("--shared=http://a/,read-only"))
        #expect(plain.stored.contains("--shared-key-file=" + keyFile))
        #expect(plain.secrets.names.isEmpty)
        let secret = try JobSettings(
            session(["--shared", "http://u:sesame@a/", "--shared-key-file", keyFile]))
        #expect(!secret.stored.contains { $0.contains("sesame") })
        #expect(secret.secrets.shared == "http://u:sesame@a/")
        #expect(secret.secrets.names == ["the credentials of --shared"])
        var secrets = JobSettings.Secrets()
        let variables = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "sesame", "PATH": "/bin"]
        let store = try #require(
            try session(["--shared", "s3://films", "--shared-key-file", keyFile], variables).settings.shared)
        secrets.add(store, variables)
        #expect(secrets.storeVariables?.count == 2)
    }
}
