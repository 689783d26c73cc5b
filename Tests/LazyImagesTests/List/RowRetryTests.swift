import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

/// A person's retry goes past the stored failures and the circuit breaker.
@Suite("A row's retry asks the network at once", .bounded)
struct RowRetryTests {
    /// Fails the first transfer, and answers the others with a picture.
    private final class FailingOnce: Transport {
        private let inner: HeldTransport
        let performed = Lock(0)
        private let failure: ImageLoadingError?

        /// - Parameter failure: the first transfer's error; nil answers it with 404.
        init(_ failure: ImageLoadingError?) {
            self.failure = failure
            let count = Lock(0)
            inner = HeldTransport { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return number == 1 && failure == nil
                    ? HeldTransport.Answer([], status: 404) : HeldTransport.Answer(SampleImages.png)
            }
        }

        func perform(
            _ request: TransportRequest, into receiver: any BodyReceiver
        ) async throws(ImageLoadingError) -> ResponseHead {
            let number = performed.withLock { performed in
                performed += 1
                return performed
            }
            if number == 1, let failure { throw failure }
            return try await inner.perform(request, into: receiver)
        }
    }

    @Test(
        "a retry passes a stored 404 and an open circuit",
        arguments: [nil, ImageLoadingError.connectionFailed(url: "u", reason: "refused")])
    func again(failure: ImageLoadingError?) async throws {
        let transport = FailingOnce(failure)
        var configuration = ImageDownloader.Configuration()
        configuration.retry = RetryPolicy(attempts: 1, failuresOfHost: 1, pauseOfHost: .seconds(3600))
        let loader = ImageLoader.ephemeral(configuration: configuration, transport: transport)
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
                #expect(transport.performed.withLock { $0 } == 1)
                model.retryFailed()
            }
            if case .loaded = update.state { break }
        }
        #expect(transport.performed.withLock { $0 } == 2)
    }
}
