import LazyImages
import TestTraits
import Testing

@testable import PictureServer

@Suite("The statuses of failures", .bounded)
struct PictureOutcomeTests {
    private static let url = "https://secret.example/token"

    /// Every case at least once.
    private static let errors: [(ImageLoadingError, Int, String?)] = [
        (.httpStatus(url: url, status: 404), 404, nil), (.httpStatus(url: url, status: 410), 410, nil),
        (.httpStatus(url: url, status: 401), 502, nil), (.httpStatus(url: url, status: 403), 502, nil),
        (.httpStatus(url: url, status: 429), 502, nil), (.httpStatus(url: url, status: 500), 502, nil),
        (.httpStatus(url: url, status: 204), 502, nil),
        (.addressRefused(url: url, rule: .address, reason: "10.0.0.7 is private"), 403, "address"),
        (.addressRefused(url: url, rule: .host, reason: "unlisted"), 403, "host"),
        (.addressRefused(url: url, rule: .port, reason: "odd"), 403, "port"),
        (.addressRefused(url: url, rule: .scheme, reason: "ftp"), 403, "scheme"),
        (.redirectRefused(url: url, location: url, reason: "http"), 403, "redirect"),
        (.unsupportedScheme(url: url, scheme: "ftp"), 403, "scheme"),
        (.insecureConnection(url: url, host: "secret.example"), 403, "scheme"),
        (.invalidURL(text: url, reason: "x"), 400, nil),
        (.timedOut(url: url, phase: .connect, seconds: 5), 504, nil),
        (.timedOut(url: url, phase: .total, seconds: 5), 504, nil),
        (.notAnImage(url: url, reason: "it looks like HTML"), 422, nil),
        (.undecodable(url: url, reason: .truncated(offset: 7)), 422, nil),
        (.empty(url: url), 422, nil), (.truncated(url: url, received: 5, expected: nil), 422, nil),
        (.truncated(url: url, received: 5, expected: 9), 502, nil), (.tooLarge(url: url, limit: 9), 422, nil),
        (.cancelled(url: url), 503, nil), (.resourcesShort(url: url, reason: "threads"), 503, nil),
        (.memoryShort(url: url), 503, nil), (.storageFailed(url: url, reason: "full"), 503, nil),
        (.transportUnavailable(reason: "no libcurl"), 503, nil),
        (.hostNotFound(url: url, host: "secret.example"), 502, nil),
        (.connectionFailed(url: url, reason: "refused"), 502, nil),
        (.connectionLost(url: url, received: 3, reason: "reset"), 502, nil),
        (.secureConnectionFailed(url: url, reason: "certificate"), 502, nil),
        (.malformedResponse(url: url, reason: "x"), 502, nil),
        (.tooManyRedirects(url: url, limit: 10), 502, nil),
        (.redirectLoop(url: url, location: url), 502, nil),
        (.encodedContent(url: url, encoding: "br"), 502, nil),
        (.checksumMismatch(url: url, expected: "a", found: "b"), 502, nil), (.notCached(url: url), 502, nil),
        (.unreadableFile(path: "/secret.example", reason: "x"), 502, nil),
        (.fileChanged(path: "/secret.example"), 502, nil), (.dataFailed(url: url, reason: "x"), 500, nil),
    ]

    @Test("every loading error has its status and rule, and reveals no address")
    func statuses() {
        for (error, status, rule) in Self.errors {
            let failure = PictureFailure(error)
            #expect(failure.status.rawValue == status && failure.rule == rule, "\(error)")
            #expect(!failure.detail.contains("secret.example") && !failure.detail.contains("\n"), "\(error)")
            // The address of a name says something about the service's network.
            #expect(!failure.detail.contains("10.0.0.7"), "\(error)")
            #expect((failure.retryAfter != nil) == (status == 503), "\(error)")
            // A stale picture may replace a transient failure of the service or the origin.
            #expect(failure.mayPass == (status >= 500), "\(error)")
        }
        let codes = Set(Self.errors.map { $0.0.code })
        #expect(codes.count == 30, "the table lacks a case of the error")
    }

    @Test("a busy service names its limit, and when to try again in whole seconds, one at least")
    func busy() {
        for shortage in PictureFailure.Shortage.allCases {
            for (wait, seconds) in [(Duration.zero, 1), (.milliseconds(1001), 2), (.seconds(1 << 40), 3600)] {
                let failure = PictureFailure.busy(shortage, wait: wait)
                #expect(failure.status == .serviceUnavailable && failure.rule == shortage.rawValue)
                #expect(failure.retryAfter == seconds && failure.detail.hasSuffix("in \(seconds) s"))
            }
        }
    }
}
