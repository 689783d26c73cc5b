import TestTraits
import Testing

@testable import Films

@Suite("Times of a library", .bounded)
struct TimestampTests {
    @Test("a time keeps its milliseconds when it is read and written")
    func milliseconds() {
        for millisecond in 0..<1000 {
            let digits = String(String(millisecond + 1000).dropFirst())
            let text = "2026-11-22T13:40:01.\(digits)Z"
            #expect(Timestamp.normalized(text) == text)
        }
        #expect(Timestamp.normalized("2026-11-22T13:40:01Z") == "2026-11-22T13:40:01.000Z")
        #expect(Timestamp.normalized("2026-11-22T14:40:01.5+01:00") == "2026-11-22T13:40:01.500Z")
        #expect(Timestamp.normalized("yesterday") == nil)
    }
}
