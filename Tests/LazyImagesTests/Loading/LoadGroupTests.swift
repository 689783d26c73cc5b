import Dispatch
import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Loads with callbacks, and blocking loads", .bounded, .ownThread)
struct LoadGroupTests {
    private let queue = DispatchQueue(label: "callbacks")

    private func request(_ number: Int) throws -> ImageRequest {
        ImageRequest("http://localhost/\(number).jpg")
    }

    private func loader(_ transport: any Transport) -> ImageLoader {
        .ephemeral(configuration: .once, transport: transport, pressure: nil)
    }

    @Test("many loads call back in order, one at a time, on a serial queue")
    func order() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(transport)
        let group = LoadGroup(on: queue, concurrency: 1)
        let seen = Lock<[Int]>([])
        let count = Rounds.count(500, many: 10_000)
        for number in 0..<count {
            // Every tenth image is in memory by then, and its load ends at once.
            let request = try request(number % 10 == 0 ? 0 : number)
            loader.enqueue(request, group: group) { result in
                if case .failure(let error) = result { Issue.record(error) }
                seen.withLock { $0.append(number) }
            }
        }
        await group.done()
        #expect(seen.withLock { $0 } == Array(0..<count))
        #expect(transport.mostAtOnce == 1)
    }

    @Test("cancelling a group does not cancel others' loads, and calls back for each load of the group")
    func cancelling() async throws {
        let transport = HeldTransport { $0.url.path == "/9.jpg" ? .fresh(SampleImages.png) : nil }
        let loader = loader(transport)
        let shared = loader.imageTask(with: try request(0))
        // Before the group's own transfer, which may otherwise start first.
        let transfer = try await transport.transfer()
        let group = LoadGroup(on: queue, concurrency: 2)
        let results = Lock<[String]>([])
        for number in 0..<5 {
            loader.enqueue(try request(number), group: group) { result in
                if case .failure(let error) = result { results.withLock { $0.append(error.code) } }
            }
        }
        group.cancelAll()
        group.wait()
        #expect(results.withLock { $0 } == Array(repeating: "cancelled", count: 5))
        transfer.answer(SampleImages.png)
        #expect(try await shared.value.source == .network)
        // A cancelled group accepts new loads.
        loader.enqueue(try request(9), group: group) { result in
            if case .success = result { results.withLock { $0 = ["image"] } }
        }
        group.wait()
        #expect(results.withLock { $0 } == ["image"])
    }

    @Test("the progress is the sum of the bytes, without those of failed loads")
    func progress() async throws {
        let good = try ScriptedOrigin(.answering(SampleImages.png))
        let half = try ScriptedOrigin([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), .sendBytes(SampleImages.png),
        ])
        let loader = loader(CurlTransport())
        let group = LoadGroup(on: queue)
        let sums = group.progress
        for url in [good.url("/1.png"), half.url("/2.png"), good.url("/3.png")] {
            loader.enqueue(ImageRequest(url), group: group) { _ in }
        }
        await group.done()
        let whole = 2 * SampleImages.png.count
        var last = 0
        for await sum in sums {
            last = sum
            if sum == whole { break }
        }
        #expect(last == whole)
        var now = group.progress.makeAsyncIterator()
        #expect(await now.next() == whole)
    }

    @Test("every reader of the progress ends on the sum when two transfers report at once")
    func newestSum() async throws {
        let transport = HeldTransport()
        let loader = loader(transport)
        let group = LoadGroup(on: queue)
        for number in 1...2 { loader.enqueue(try request(number), group: group) { _ in } }
        let transfers = try await transport.transfers(2)
        for transfer in transfers { transfer.respond() }
        var readers = (0..<200).map { _ in group.progress.makeAsyncIterator() }
        let threads = BlockingThreads(count: 2)
        var old = 0
        for round in 1...200 {
            async let one: Void = threads.run { transfers[0].send([0]) }
            async let other: Void = threads.run { transfers[1].send([0]) }
            try await one
            try await other
            for index in readers.indices where await readers[index].next() != 2 * round { old += 1 }
        }
        #expect(old == 0)
        group.cancelAll()
        await group.done()
    }

    @Test("64 blocked threads get their images, and share the loads of equal requests")
    func blocking() async throws {
        let transport = HeldTransport { _ in .fresh(SampleImages.png) }
        let loader = loader(transport)
        let images = Tally()
        for number in 0..<64 {
            let request = try request(number % 8)
            try BlockingThreads.startThread {
                do throws(ImageLoadingError) {
                    _ = try loader.waitForImage(request)
                    images.add()
                } catch {
                    Issue.record(error)
                }
            }
        }
        try await images.wait(for: 64)
        #expect(transport.started.count == 8)
    }

    @Test("a failed load throws on the waiting thread")
    func failing() async throws {
        let loader = loader(HeldTransport { _ in HeldTransport.Answer([], status: 404) })
        let request = try request(1)
        let codes = Lock<[String]>([])
        let ended = Tally()
        try BlockingThreads.startThread {
            do throws(ImageLoadingError) {
                _ = try loader.waitForImage(request)
            } catch {
                codes.withLock { $0.append(error.code) }
            }
            ended.add()
        }
        try await ended.wait(for: 1)
        #expect(codes.withLock { $0 } == ["http-status"])
    }

    #if DEBUG
        @Test("a blocking load inside a task traps in a debug build")
        func trap() async {
            await #expect(processExitsWith: .failure) {
                _ = try ImageLoader.ephemeral().waitForImage(ImageRequest("http://localhost/a.png"))
            }
        }
    #endif
}
