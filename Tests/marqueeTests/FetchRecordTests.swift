import Foundation
import LazyImages
import TestTraits
import Testing

@testable import marquee

@Suite("The record of a fetch", .bounded)
struct FetchRecordTests {
    private func object(_ record: FetchRecord) throws -> [String: Any] {
        let data = try JSONEncoder().encode(record)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("a failure has a code, a message and the server's status")
    func failure() throws {
        let record = FetchRecord(
            .httpStatus(url: "https://x/y", status: 404), of: "https://x/y",
            timing: LoadTiming(total: .milliseconds(19), queued: .milliseconds(7)))
        let object = try object(record)
        #expect(Set(object.keys) == ["url", "outcome", "status", "milliseconds", "queued", "error"])
        #expect(object["outcome"] as? String == "failed")
        #expect(object["status"] as? Int == 404)
        #expect(object["milliseconds"] as? Double == 12 && object["queued"] as? Double == 7)
        let error = try #require(object["error"] as? [String: String])
        #expect(error["code"] == "http-status")
        #expect(error["message"]?.contains("404") == true)
    }

    @Test("the library's error names no option; the program adds the advice on the same line")
    func advice() throws {
        let advice: [(ImageLoadingError, String)] = [
            (.insecureConnection(url: "u", host: "h"), "--insecure-http h"),
            (.timedOut(url: "u", phase: .stall, seconds: 1), "--timeout"),
            (.timedOut(url: "u", phase: .total, seconds: 1), "--max-time"),
            (.tooLarge(url: "u", limit: 1), "--max-bytes"),
            (.httpStatus(url: "u", status: 401), "MARQUEE_CREDENTIALS"),
        ]
        for (error, option) in advice {
            #expect(!error.description.contains("--") && !error.description.contains("MARQUEE"))
            #expect(error.advised.hasPrefix(error.description + "; ") && error.advised.contains(option))
            #expect(!error.advised.contains("\n"))
            let record = FetchRecord(error, of: "u")
            #expect(record.error?.message == error.advised)
        }
        let plain = ImageLoadingError.notAnImage(url: "u", reason: "it is text")
        #expect(plain.advised == plain.description)
        #expect(ImageLoadingError.advised(Failure("no film")) == "no film")
    }

    @Test("an image has all its fields, and a checksum only on request")
    func image() async throws {
        let loader = FileLoader(disk: nil)
        let address = "data:image/png;base64," + Fixture.pixel.base64EncodedString()
        let image = try await loader.file(for: ImageRequest(.text(address)))
        let timing = LoadTiming(total: .microseconds(1260), queued: .zero)
        let bare = FetchRecord(image, of: "u", timing: timing, wantsChecksum: false)
        let object = try object(bare)
        #expect(object["bytes"] as? Int == Fixture.pixel.count)
        #expect(object["format"] as? String == "png")
        #expect(object["width"] as? Int == 1)
        #expect(object["height"] as? Int == 1)
        #expect(object["milliseconds"] as? Double == 1.3)
        #expect(object["sha256"] == nil)
        #expect(object["error"] == nil)
        let full = FetchRecord(image, of: "u", timing: timing, wantsChecksum: true)
        #expect(full.sha256?.count == 64)
        #expect(bare.summary == "png  1 x 1  70 bytes  local  1.3 ms")
    }
}
