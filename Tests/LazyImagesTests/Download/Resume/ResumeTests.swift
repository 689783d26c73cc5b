import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Resuming", .bounded)
struct ResumeTests {
    private let folder: TemporaryFolder
    private let transport = HeldTransport()
    private let request: ImageRequest
    private let body = SampleImages.png(bytes: 100_000)
    private let fields: HeaderFields = ["ETag": "\"1\"", "Content-Length": "100000", "A": "first"]

    init() throws {
        folder = try TemporaryFolder()
        request = ImageRequest("http://localhost/a.png")
    }

    @Test("a broken transfer is resumed, also by another process")
    func resumed() async throws {
        try await interrupt(after: 60_000)
        let loader = loader()
        let caller = try await loader.callers(1, of: request)
        let rest = try await transport.transfer(1)
        #expect(rest.request.fields["range"] == "bytes=60000-" && rest.request.fields["if-range"] == "\"1\"")
        rest.answer(
            Array(body[60_000...]), status: 206,
            fields: [
                "Content-Range": "bytes 60000-99999/100000", "Content-Length": "40000", "ETag": "\"1\"",
                "B": "then",
            ])
        let file = try await caller.outcomes[0].get()
        #expect(file.source == .resumed && file.status == 200 && file.bytes.array == body)
        #expect(file.fields?["a"] == "first" && file.fields?["b"] == "then")
        await loader.flush()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("cache/partial")).isEmpty)
        #expect(
            await DiskCache(folder: folder.file("cache")).entry(for: request.key)?.body.array == body)
    }

    @Test("a 200 replaces the partial body")
    func changed() async throws {
        try await interrupt(after: 60_000)
        let caller = try await loader().callers(1, of: request)
        try await transport.transfer(1).answer(SampleImages.jpeg, fields: ["ETag": "\"2\""])
        let file = try await caller.outcomes[0].get()
        #expect(file.source == .network && file.bytes.array == SampleImages.jpeg)
    }

    @Test(
        "an answer that is not the rest causes one request for the whole file",
        arguments: [
            (416, "bytes */100000", "1"), (206, "bytes 0-99999/100000", "1"),
            (206, "bytes 60001-99999/100000", "1"), (206, "bytes 59999-99999/100000", "1"),
            (206, "bytes 60000-100000/100001", "1"), (206, "bytes 60000-79999/100000", "1"),
            (206, "bytes 60000-99999/100000", "2"), (206, "bytes */100000", "1"), (206, "nonsense", "1"),
            (206, "", "1"),
        ])
    func useless(status: Int, range: String, tag: String) async throws {
        try await interrupt(after: 60_000)
        let caller = try await loader().callers(1, of: request)
        try await transport.transfer(1).answer(
            Array(body[60_000...]), status: status,
            fields: ["Content-Range": range, "ETag": "\"\(tag)\""])
        let all = try await transport.transfer(2)
        #expect(all.request.fields["range"] == nil && all.request.fields["if-range"] == nil)
        all.answer(body, fields: fields)
        let file = try await caller.outcomes[0].get()
        #expect(file.source == .network && file.bytes.array == body)
        #expect(transport.started.count == 3)
    }

    @Test("a failing server leaves the partial body for a later attempt")
    func serverFails() async throws {
        try await interrupt(after: 60_000)
        let caller = try await loader().callers(1, of: request)
        try await transport.transfer(1).answer([], status: 500)
        #expect(await caller.outcomes[0].error?.code == "http-status")
        let again = try await loader().callers(1, of: request)
        let rest = try await transport.transfer(2)
        #expect(rest.request.fields["range"] == "bytes=60000-")
        rest.finish()
        _ = await again.outcomes
    }

    @Test("a second broken transfer keeps the bytes of both, also if the first answer had only a date")
    func twice() async throws {
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        try await interrupt(
            after: 60_000,
            [
                "Last-Modified": modified, "Date": "Mon, 07 Nov 1994 08:49:37 GMT",
                "Content-Length": "100000",
            ])
        let caller = try await loader().callers(1, of: request)
        let second = try await transport.transfer(1)
        #expect(second.request.fields["if-range"] == modified)
        second.respond(206, ["Content-Range": "bytes 60000-99999/100000", "ETag": "\"1\""])
        second.send(Array(body[60_000..<80_000]))
        second.fail(.connectionLost(url: "", received: 20_000, reason: ""))
        #expect(await caller.outcomes[0].error?.code == "connection-lost")
        let last = try await loader().callers(1, of: request)
        let rest = try await transport.transfer(2)
        #expect(rest.request.fields["range"] == "bytes=80000-")
        rest.answer(
            Array(body[80_000...]), status: 206,
            fields: ["Content-Range": "bytes 80000-99999/*", "ETag": "\"1\""])
        #expect(try await last.outcomes[0].get().bytes.array == body)
    }

    @Test("a 206 that ends early is not a whole body")
    func shortRest() async throws {
        try await interrupt(after: 60_000)
        let caller = try await loader().callers(1, of: request)
        try await transport.transfer(1).answer(
            Array(body[60_000..<90_000]), status: 206,
            fields: ["Content-Range": "bytes 60000-99999/100000", "Content-Length": "40000", "ETag": "\"1\""])
        #expect(await caller.outcomes[0].error?.code == "truncated")
    }

    @Test(
        "a partial body that cannot be resumed safely is not kept",
        arguments: [
            [:], ["ETag": "W/\"1\""], ["ETag": "\"1\"", "Accept-Ranges": "none"],
            ["ETag": "\"1\"", "Cache-Control": "no-store"],
        ] as [HeaderFields])
    func unsafeParts(fields: HeaderFields) async throws {
        try await interrupt(after: 60_000, fields)
        let caller = try await loader().callers(1, of: request)
        let all = try await transport.transfer(1)
        #expect(all.request.fields["range"] == nil)
        all.answer(body, fields: fields)
        #expect(try await caller.outcomes[0].get().source == .network)
    }

    @Test("a partial body is not resumed when the URL now redirects elsewhere")
    func redirected() async throws {
        try await interrupt(after: 60_000)
        let caller = try await loader().callers(1, of: request)
        try await transport.transfer(1).answer([], status: 302, fields: ["Location": "/b.png"])
        let moved = try await transport.transfer(2)
        #expect(moved.request.fields["range"] == nil)
        moved.answer(body, fields: fields)
        #expect(try await caller.outcomes[0].get().bytes.array == body)
    }

    @Test("a large body is written to its file as it arrives, so that a killed process leaves it")
    func large() async throws {
        let large = SampleImages.png(bytes: 3_000_000)
        let caller = try await loader().callers(1, of: request)
        let first = try await transport.transfer(0)
        first.respond(200, ["ETag": "\"1\"", "Content-Length": "3000000"])
        for start in stride(from: 0, to: 2_000_000, by: 100_000) {
            first.send(Array(large[start..<start + 100_000]))
        }
        let name = request.transferKey.digest.hexadecimal
        try await eventually {
            // Ignored: the file may not be made yet.
            let part = try? Data(contentsOf: URL(filePath: folder.file("cache/partial/" + name)))
            return part?.suffix(2_000_000) == Data(large.prefix(2_000_000))
        }
        // Another process does not open it while it is being written.
        let other = try await loader(patience: .milliseconds(1)).callers(1, of: request)
        let second = try await transport.transfer(1)
        #expect(second.request.fields["range"] == nil)
        second.answer(large, fields: ["ETag": "\"1\""])
        #expect(try await other.outcomes[0].get().bytes.array == large)
        first.send(Array(large[2_000_000...]))
        first.finish()
        let file = try await caller.outcomes[0].get()
        #expect(file.source == .network && file.bytes.array == large)
    }

    @Test("partial files are read, written, kept and finished on threads of their own only")
    func awayFromThePool() async throws {
        let names = Lock<Set<String>>([])
        func taken() -> Set<String> { names.withLock { $0.exchange([]) } }
        let calls = FileCalls { _ in
            names.withLock { _ = $0.insert(Self.threadName()) }
            return nil
        }
        try await interrupt(after: 60_000, calls: calls)
        #expect(taken() == ["LazyImages.body"], "a partial body was kept")
        let caller = try await loader(calls: calls).callers(1, of: request)
        let rest = try await transport.transfer(1)
        #expect(rest.request.fields["range"] == "bytes=60000-")
        #expect(taken() == ["LazyImages.body"], "the partial body was read")
        rest.respond(
            206,
            ["Content-Range": "bytes 60000-99999/100000", "Content-Length": "40000", "ETag": "\"1\""])
        // Here the transport's thread is the test's own.
        rest.send(Array(body[60_000...]))
        rest.finish()
        #expect(try await caller.outcomes[0].get().bytes.array == body)
        #expect(taken() == ["LazyImages.body"], "the rest was written, and the whole body read from its file")
    }

    private static func threadName() -> String {
        let file = unsafe open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var name = [UInt8](repeating: 0, count: 16)
        let count = unsafe read(file, &name, name.count)
        // Without the final line feed.
        return String(decoding: name.prefix(max(0, count - 1)), as: UTF8.self)
    }

    @Test(
        "a cancelled transfer keeps its partial body from partialMinimum bytes on, 1 MiB by default",
        arguments: [
            (nil, 1 << 20, true), (nil, 1 << 20 - 1, false), (50_000, 50_000, true), (50_000, 49_999, false),
        ] as [(Int?, Int, Bool)])
    func cancelled(minimum: Int?, received: Int, isKept: Bool) async throws {
        let body = SampleImages.png(bytes: 1_500_000)
        let loader = loader(partialMinimum: minimum)
        let caller = try await loader.callers(1, of: request)
        let first = try await transport.transfer(0)
        first.respond(200, ["ETag": "\"1\"", "Content-Length": "1500000"])
        first.send(Array(body.prefix(received)))
        caller.tasks[0].cancel()
        #expect(await caller.outcomes[0].error?.code == "cancelled")
        // The slot is free once the partial body is kept.
        try await eventually { loader.downloader.activity.hosts["localhost:80"]?.running == 0 }
        let again = try await loader.callers(1, of: request)
        let second = try await transport.transfer(1)
        #expect(second.request.fields["range"] == (isKept ? "bytes=\(received)-" : nil))
        second.fail(.cancelled(url: ""))
        _ = await again.outcomes
    }

    @Test("a body that was complete when the last caller left is stored, although its end was not seen")
    func wholeWhenLeft() async throws {
        let loader = loader()
        let caller = try await loader.callers(1, of: request)
        let transfer = try await transport.transfer(0)
        transfer.respond(200, fields)
        transfer.send(body)
        caller.tasks[0].cancel()
        #expect(await caller.outcomes[0].error?.code == "cancelled")
        try await eventually { loader.downloader.activity.hosts["localhost:80"]?.finished == 1 }
        try await eventually { loader.disk?.contains(request.key) == true }
        var cached = request
        cached.cachePolicy = .cacheOnly
        #expect(try await loader.file(for: cached).bytes.array == body)
    }

    @Test("an ephemeral loader leaves nothing on disk")
    func ephemeral() async throws {
        var configuration = ImageDownloader.Configuration.once
        configuration.partialFolder = folder.file("partial")
        configuration.temporaryFolder = folder.path
        configuration.memoryForBodies = 10
        let loader = FileLoader.ephemeral(configuration: configuration, transport: transport)
        let caller = try await loader.callers(1, of: request)
        try await transport.transfer(0).answer(body, fields: fields)
        #expect(await caller.outcomes[0].error?.code == "storage-failed")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    /// Breaks a transfer after this many bytes.
    private func interrupt(
        after count: Int, _ other: HeaderFields? = nil, calls: FileCalls = FileCalls()
    ) async throws {
        let caller = try await loader(calls: calls).callers(1, of: request)
        let first = try await transport.transfer(0)
        first.respond(200, other ?? fields)
        first.send(Array(body.prefix(count)))
        first.fail(.connectionLost(url: "", received: count, reason: ""))
        #expect(await caller.outcomes[0].error?.code == "connection-lost")
    }

    /// A new loader over the same folder, as another process has.
    /// - Parameter patience: how long it waits for a transfer of another loader.
    private func loader(
        calls: FileCalls = FileCalls(), partialMinimum: Int? = nil, patience: Duration = .seconds(600)
    ) -> FileLoader {
        var configuration = ImageDownloader.Configuration.once
        configuration.timeouts.stall = patience
        if let partialMinimum { configuration.partialMinimum = partialMinimum }
        configuration.fileCalls = calls
        return FileLoader(
            memory: nil, disk: DiskCache(folder: folder.file("cache")), configuration: configuration,
            transport: transport)
    }
}

extension Set {
    /// Replaces this set and returns the old one.
    fileprivate mutating func exchange(_ other: Set) -> Set {
        defer { self = other }
        return self
    }
}
