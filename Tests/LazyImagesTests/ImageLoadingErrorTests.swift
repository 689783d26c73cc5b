import LazyImages
import Testing

@Suite("Errors that may pass", .timeLimit(.minutes(1)))
struct ImageLoadingErrorTests {
    @Test(
        "what the network or a busy server did may pass",
        arguments: [
            .timedOut(url: "u", phase: .connect, seconds: 1),
            .connectionFailed(url: "u", reason: "refused"),
            .connectionLost(url: "u", received: 3, reason: "reset"), .hostNotFound(url: "u", host: "h"),
            .truncated(url: "u", received: 1, expected: 2), .httpStatus(url: "u", status: 408),
            .httpStatus(url: "u", status: 425), .httpStatus(url: "u", status: 429),
            .httpStatus(url: "u", status: 500), .httpStatus(url: "u", status: 599),
        ] as [ImageLoadingError])
    func passing(error: ImageLoadingError) { #expect(error.isRetryable) }

    @Test(
        "what the request or the image is to blame for does not pass",
        arguments: [
            .cancelled(url: "u"), .invalidURL(text: "u", reason: "r"), .notAnImage(url: "u", reason: "text"),
            .httpStatus(url: "u", status: 404), .httpStatus(url: "u", status: 410),
            .httpStatus(url: "u", status: 600), .tooLarge(url: "u", limit: 1), .notCached(url: "u"),
            .checksumMismatch(url: "u", expected: "a", found: "b"),
            .insecureConnection(url: "u", host: "h"),
        ] as [ImageLoadingError])
    func lasting(error: ImageLoadingError) { #expect(!error.isRetryable) }
}
