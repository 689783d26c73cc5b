import TestSupport
import TestTraits
import Testing

import LazyImages

/// A person's retry goes past the stored failures and the circuit breaker.
@Suite("A row's retry asks the network at once", .bounded)
struct RowRetryTests {
    @Test(
        "a retry passes a stored 404 and an open circuit",
        arguments: [nil, ImageLoadingError.connectionFailed(url: "u", reason: "refused")])
    func again(failure: ImageLoadingError?) async throws {
        let asked = Tally()
        let transport = HeldTransport { _ in
            asked.add()
            guard asked.count == 1 else { return HeldTransport.Answer(SampleImages.png) }
            return failure.map { HeldTransport.Answer.failure($0) } ?? HeldTransport.Answer([], status: 404)
        }
        let retry = RetryPolicy(attempts: 1, failuresOfHost: 1, pauseOfHost: .seconds(3600))
        let loader = ImageLoader.ephemeral(configuration: .with { $0.retry = retry }, transport: transport)
        let request = ImageRequest("https://example.org/a.png")
        let model = ImageListModel(loader: loader, rows: [request], pressure: nil)
        model.setVisible(0..<1)
        var failures = 0
        for await update in model.updates {
            if case .failed = update.state {
                failures += 1
                #expect(failures == 1)
                // This load is no retry: the stored failure answers it.
                await #expect(throws: ImageLoadingError.self) { try await loader.image(for: request) }
                #expect(transport.started.count == 1)
                model.retryFailed()
            }
            if case .loaded = update.state { break }
        }
        #expect(transport.started.count == 2)
    }
}
