import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Prewarmer", .bounded)
struct PrewarmerTests {
    private let folder: TemporaryFolder
    private let answering = HeldTransport { request in
        request.url.path.contains("bad")
            ? HeldTransport.Answer([], status: 404) : .fresh(SampleImages.png)
    }

    init() throws { folder = try TemporaryFolder() }

    @Test("every image is fetched, is on disk when the run returns, and is reported once")
    func fetches() async throws {
        let requests = try requests(20)
        var reported: [Int] = []
        let summary = await Prewarmer(loader(answering)).run(requests) { result in
            #expect(result.request.key == requests[result.index].key)
            reported.append(result.index)
        }
        #expect(summary.fetched == 20 && summary.failed + summary.alreadyCached + summary.cancelled == 0)
        #expect(summary.bytesFetched == 20 * SampleImages.png.count)
        #expect(reported.sorted() == Array(0..<20))
        let disk = DiskCache(folder: folder.path)
        for request in requests {
            #expect(await disk.entry(for: request.key)?.body.array == SampleImages.png)
        }
    }

    @Test("loads run up to the concurrency, and never more", arguments: [1, 5])
    func concurrency(limit: Int) async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let requests = (0..<12).map { ImageRequest("http://host\($0).localhost/") }
        async let summary = Prewarmer(loader, concurrency: limit).run(requests)
        for index in 0..<12 {
            // The next load starts only when one has ended.
            let started = try await held.transfers(min(index + limit, 12))
            #expect(started.count <= index + limit)
            started[index].answer(SampleImages.png)
        }
        #expect(await summary.fetched == 12)
        #expect(held.mostAtOnce == limit)
    }

    @Test("cached images are skipped, by a new process too")
    func skips() async throws {
        _ = await Prewarmer(loader(answering)).run(try requests(5))
        let silent = HeldTransport()
        let summary = await Prewarmer(loader(silent)).run(try requests(5))
        #expect(summary.alreadyCached == 5 && summary.fetched == 0 && summary.bytesFetched == 0)
        #expect(silent.started.count == 0)
    }

    @Test("stale images are revalidated, with one conditional request each")
    func revalidates() async throws {
        let transport = HeldTransport { request in
            request.fields["if-none-match"] == "\"1\""
                ? HeldTransport.Answer([], status: 304)
                : HeldTransport.Answer(
                    SampleImages.png, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=0"])
        }
        let requests = try requests(20)
        _ = await Prewarmer(loader(transport)).run(requests)
        let summary = await Prewarmer(loader(transport)).run(requests)
        #expect(summary.alreadyCached == 20 && summary.revalidated == 20 && summary.bytesFetched == 0)
        #expect(transport.started.count == 40)
    }

    @Test("one failure does not stop the rest, and names its request")
    func failures() async throws {
        let requests = ["0", "bad", "2", "bad2", "4"].map { ImageRequest("http://localhost/\($0)") }
        var failures: [String: String] = [:]
        let summary = await Prewarmer(loader(answering), concurrency: 2).run(requests) { result in
            if case .failed(let error) = result.outcome { failures[result.request.url.path] = error.code }
        }
        #expect(summary.fetched == 3 && summary.failed == 2)
        #expect(failures == ["/bad": "http-status", "/bad2": "http-status"])
    }

    @Test("a cancelled run ends its loads, starts none, and counts the images it did not try")
    func cancellation() async throws {
        let held = HeldTransport()
        let loader = loader(held)
        let requests = try requests(50)
        let run = Task {
            await Prewarmer(loader, concurrency: 4).run(requests) { _ in Issue.record("reported") }
        }
        let started = try await held.transfers(4)
        run.cancel()
        for transfer in started { try await transfer.cancellation.wait(for: 1) }
        let summary = await run.value
        #expect(summary.cancelled == 50 && summary.fetched + summary.failed == 0)
        #expect(held.started.count == 4)
    }

    @Test("an image that is listed more than once is fetched once")
    func repeated() async throws {
        let request = ImageRequest("http://localhost/a")
        let summary = await Prewarmer(loader(answering)).run([ImageRequest](repeating: request, count: 10))
        #expect(answering.started.count == 1)
        #expect(summary.fetched + summary.alreadyCached == 10)
    }

    @Test("an empty list ends at once, and a concurrency below one counts as one")
    func edges() async throws {
        #expect(await Prewarmer(loader(answering)).run([]) == Prewarmer.Summary())
        #expect(await Prewarmer(loader(answering), concurrency: 0).run(try requests(2)).fetched == 2)
    }

    private func requests(_ count: Int) throws -> [ImageRequest] {
        (0..<count).map { ImageRequest("http://localhost/\($0)") }
    }

    private func loader(_ transport: HeldTransport) -> FileLoader {
        FileLoader(disk: DiskCache(folder: folder.path), transport: transport)
    }
}
