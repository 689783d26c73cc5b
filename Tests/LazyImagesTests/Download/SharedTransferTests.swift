import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

/// One transfer, many callers. Each test is a bug that users of another image loader reported.
@Suite("One transfer, many callers", .bounded)
struct SharedTransferTests {
    private let transport = HeldTransport()
    private let downloader: ImageDownloader
    private let address = "http://localhost/a.png"

    init() { downloader = ImageDownloader(transport: transport) }

    @Test("one caller's cancellation does not stop the others")
    func oneCancels() async throws {
        let callers = try await downloader.callers(3, of: try ImageRequest(.text(address)))
        callers.tasks[1].cancel()
        #expect(await callers.tasks[1].value.error == .cancelled(url: address))
        let transfer = try await transport.transfer()
        #expect(transfer.cancellation.count == 0)
        transfer.answer(SampleImages.png)
        let outcomes = await callers.outcomes
        for index in [0, 2] { #expect(try outcomes[index].get().bytes.array == SampleImages.png) }
        #expect(transport.started.count == 1)
    }

    @Test("cancelling the first caller does not fail the rest")
    func firstCancels() async throws {
        let request = try ImageRequest(.text(address))
        let first = try await downloader.callers(1, of: request)
        let transfer = try await transport.transfer()
        let rest = try await downloader.callers(2, of: request)
        first.tasks[0].cancel()
        #expect(await first.outcomes[0].error == .cancelled(url: address))
        #expect(transfer.cancellation.count == 0)
        transfer.answer(SampleImages.png)
        for outcome in await rest.outcomes { #expect(outcome.error == nil) }
    }

    @Test("cancelling the last caller ends the transfer, and the next caller starts a new one")
    func lastCancels() async throws {
        let request = try ImageRequest(.text(address))
        let callers = try await downloader.callers(2, of: request)
        let abandoned = try await transport.transfer()
        for task in callers.tasks { task.cancel() }
        try await abandoned.cancellation.wait(for: 1)
        for outcome in await callers.outcomes { #expect(outcome.error == .cancelled(url: address)) }
        let next = try await downloader.callers(1, of: request)
        try await transport.transfer(1).answer(SampleImages.png)
        #expect(await next.outcomes[0].error == nil)
        #expect(downloader.transferCount == 0)
    }

    @Test("a caller that joins as the transfer ends gets an answer")
    func joinAtTheEnd() async throws {
        let answering = HeldTransport { _ in HeldTransport.Answer(SampleImages.png) }
        let downloader = ImageDownloader(transport: answering)
        let request = try ImageRequest(.text(address))
        var callers: [Callers<LoadedFile>] = []
        for _ in 0..<300 {
            callers.append(downloader.unjoinedCallers(of: request))
            // In each round the transfer gets a little further before the next caller joins.
            await Task.yield()
        }
        for caller in callers { #expect(await caller.outcomes[0].error == nil) }
        #expect(downloader.transferCount == 0)
    }

    @Test("a cancelled caller gets its outcome once")
    func onceEach() async throws {
        // A continuation that is resumed twice traps. One that is never resumed hangs the test.
        let answering = HeldTransport { _ in HeldTransport.Answer(SampleImages.png) }
        let downloader = ImageDownloader(transport: answering)
        for round in 0..<100 {
            let callers = downloader.unjoinedCallers(3, of: ImageRequest("http://localhost/\(round % 7)"))
            for _ in 0..<(round % 5) { await Task.yield() }
            callers.tasks[round % 3].cancel()
            let outcomes = await callers.outcomes
            for index in 0..<3 where index != round % 3 { #expect(outcomes[index].error == nil) }
            let left = outcomes[round % 3].error
            #expect(left == nil || left?.code == "cancelled")
        }
        #expect(downloader.transferCount == 0)
    }

    @Test("a load that is cancelled before it starts ends at once")
    func cancelledBefore() async throws {
        let gate = Tally()
        let request = try ImageRequest(.text(address))
        let task = Task { [downloader] () async -> ImageLoadingError? in
            // Waits for the cancellation.
            try? await gate.wait(for: 1)
            do throws(ImageLoadingError) {
                _ = try await downloader.download(request)
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        #expect(await task.value == .cancelled(url: address))
        #expect(transport.started.count == 0)
        #expect(downloader.transferCount == 0)
    }

    @Test("a load that is cancelled in the queue downloads nothing")
    func cancelledInTheQueue() async throws {
        var configuration = ImageDownloader.Configuration()
        configuration.transfers = 1
        let downloader = ImageDownloader(transport: transport, configuration: configuration)
        let first = try await downloader.callers(1, of: ImageRequest("http://localhost/1"))
        let queued = try await downloader.callers(1, of: ImageRequest("http://localhost/2"))
        let last = try await downloader.callers(1, of: ImageRequest("http://localhost/3"))
        queued.tasks[0].cancel()
        #expect(await queued.outcomes[0].error == .cancelled(url: "http://localhost/2"))
        try await transport.transfer(0).answer(SampleImages.png)
        try await transport.transfer(1).answer(SampleImages.png)
        for callers in [first, last] { #expect(await callers.outcomes[0].error == nil) }
        #expect(transport.requests.map(\.url.path) == ["/1", "/3"])
    }

    @Test("cancellation is not a failure")
    func cancellationIsNoFailure() async throws {
        let request = try ImageRequest(.text(address))
        let loader = FileLoader(disk: nil, transport: transport)
        let callers = try await loader.callers(1, of: request)
        let transfer = try await transport.transfer()
        callers.tasks[0].cancel()
        try await transfer.cancellation.wait(for: 1)
        #expect(await callers.outcomes[0].error == .cancelled(url: address))
        // No retry and no fallback follow: the next request is the next load's.
        for number in 1...10 {
            let next = try await loader.callers(1, of: ImageRequest("http://localhost/\(number)"))
            try await transport.transfer(number).answer(SampleImages.png)
            #expect(await next.outcomes[0].error == nil)
        }
        #expect(transport.requests.map(\.url.lastPathComponent) == ["a.png"] + (1...10).map { "\($0)" })
        #expect(loader.memory?.counters.stores == 10)
    }

    @Test("a failed transfer leaves its key free")
    func failureFreesTheKey() async throws {
        let request = try ImageRequest(.text(address))
        var configuration = ImageDownloader.Configuration()
        configuration.retry = .never
        let downloader = ImageDownloader(transport: transport, configuration: configuration)
        let failing = try await downloader.callers(2, of: request)
        let reset = ImageLoadingError.connectionLost(url: address, received: 3, reason: "reset")
        try await transport.transfer(0).fail(reset)
        for outcome in await failing.outcomes { #expect(outcome.error == reset) }
        let next = try await downloader.callers(1, of: request)
        try await transport.transfer(1).answer(SampleImages.png)
        #expect(await next.outcomes[0].error == nil)
    }

    @Test("a request that the policy forbids leaves its key free")
    func refusalFreesTheKey() async throws {
        let request = ImageRequest("http://example.org/a.png")
        for _ in 0..<2 {
            let error = await downloader.unjoinedCallers(of: request).outcomes[0].error
            #expect(error?.code == "insecure-connection")
        }
        #expect(transport.started.count == 0)
        #expect(downloader.transferCount == 0)
    }

    @Test("different headers do not share an answer")
    func differentHeaders() async throws {
        let url = try URL(typed: address)
        let mine = try await downloader.callers(
            1, of: ImageRequest(.url(url), options: .init(fields: ["Authorization": "me"])))
        let yours = try await downloader.callers(
            1, of: ImageRequest(.url(url), options: .init(fields: ["Authorization": "you"])))
        for transfer in try await transport.transfers(2) {
            let isMine = transfer.request.fields["authorization"] == "me"
            transfer.answer(isMine ? SampleImages.png : SampleImages.jpeg)
        }
        #expect(try await mine.outcomes[0].get().bytes.array == SampleImages.png)
        #expect(try await yours.outcomes[0].get().bytes.array == SampleImages.jpeg)
    }

    @Test("different variants of one URL share one transfer")
    func variantsShareATransfer() async throws {
        let url = try URL(typed: address)
        let small = try await downloader.callers(
            1, of: ImageRequest(.url(url), options: .init(variant: "small")))
        let large = try await downloader.callers(
            1, of: ImageRequest(.url(url), options: .init(variant: "large")))
        try await transport.transfer().answer(SampleImages.png)
        for callers in [small, large] { #expect(await callers.outcomes[0].error == nil) }
        #expect(transport.started.count == 1)
    }

    @Test("an abandoned transfer that answers late does not answer for the next transfer")
    func lateAnswer() async throws {
        let stubborn = StubbornTransport()
        let downloader = ImageDownloader(transport: stubborn)
        let request = try ImageRequest(.text(address))
        let first = try await downloader.callers(1, of: request)
        try await stubborn.started.wait(for: 1)
        first.tasks[0].cancel()
        #expect(await first.outcomes[0].error?.code == "cancelled")
        let second = try await downloader.callers(1, of: request)
        try await stubborn.started.wait(for: 2)
        stubborn.fail(0)
        stubborn.answer(1, SampleImages.jpeg)
        #expect(try await second.outcomes[0].get().bytes.array == SampleImages.jpeg)
    }
}

/// Ends a transfer when the test says so, not when it is cancelled, as a slow name lookup does.
private final class StubbornTransport: Transport {
    let started = Tally()
    private let transfers = Shared<
        [(continuation: CheckedContinuation<ResponseHead?, Never>, receiver: any BodyReceiver)]
    >([])

    func perform(
        _ request: TransportRequest, into receiver: any BodyReceiver
    ) async throws(ImageLoadingError) -> ResponseHead {
        let head = await withCheckedContinuation { continuation in
            transfers.change { $0.append((continuation, receiver)) }
            started.add()
        }
        guard let head else { throw .cancelled(url: request.url.displayText) }
        return head
    }

    func fail(_ index: Int) { transfers.value[index].continuation.resume(returning: nil) }

    func answer(_ index: Int, _ body: [UInt8]) {
        let transfer = transfers.value[index]
        let head = ResponseHead(status: 200)
        _ = transfer.receiver.receive(head)
        _ = transfer.receiver.receive(body.span)
        transfer.continuation.resume(returning: head)
    }
}
