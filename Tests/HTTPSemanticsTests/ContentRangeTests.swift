import HTTPSemantics
import TestTraits
import Testing

@Suite("Content-Range, RFC 9110 section 14.4", .bounded)
struct ContentRangeTests {
    @Test("the range and the total length are read, each if it is given")
    func contentRange() {
        #expect(ContentRange("bytes 500-999/1234")?.part == 500..<1000)
        #expect(ContentRange("bytes 500-999/1234")?.total == 1234)
        #expect(ContentRange("Bytes 0-0/*")?.part == 0..<1 && ContentRange("Bytes 0-0/*")?.total == nil)
        #expect(ContentRange("bytes */1234")?.total == 1234 && ContentRange("bytes */1234")?.part == nil)
        #expect(ContentRange(" bytes  500-999/1234 ")?.part == 500..<1000)
    }

    @Test(
        "a malformed or contradictory field is ignored",
        arguments: [
            "", "bytes", "bytes 1-2", "bytes 2-1/5", "bytes 1-5/5", "bytes -5/10", "bytes 1-/10",
            "lines 1-2/5",
            "bytes */*", "bytes a-b/c", "bytes 1-2/5/6", "bytes 1-2-3/5", "bytes +1-2/5",
            "bytes 0-9223372036854775807/*",
            "bytes 0-99999999999999999999/*", "bytes=1-2/5",
        ])
    func malformedRange(text: String) { #expect(ContentRange(text) == nil) }
}
