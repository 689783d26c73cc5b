import LazyImages
import TestTraits
import Testing

@testable import marquee

@Suite("The record of a fetch", .bounded)
struct FetchRecordTests {
    @Test("a load's time is without its time in the queue, to a tenth of a millisecond")
    func timing() {
        let record = FetchRecord(
            .httpStatus(url: "https://x/y", status: 404), of: "https://x/y",
            timing: LoadTiming(total: .microseconds(19_260), queued: .milliseconds(7)))
        #expect(record.milliseconds == 12.3 && record.queued == 7)
    }

    @Test("the library's error names no option; the program adds the advice on the same line")
    func advice() {
        let error = ImageLoadingError.timedOut(url: "u", phase: .stall, seconds: 1)
        #expect(!error.description.contains("--") && !error.advised.contains("\n"))
        #expect(error.advised.hasPrefix(error.description + "; ") && error.advised.contains("--timeout"))
    }
}
