import HTTPSemantics
import TestTraits
import Testing

@Suite("Validation, RFC 9111 section 4.3", .bounded)
struct ValidatorsTests {
    private let now = 1_767_225_600
    private let changed = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test("section 4.3.1: the conditions use the validators unchanged")
    func conditions() {
        #expect(Validators(["ETag": "W/\"a\""])?.conditions == ["If-None-Match": "W/\"a\""])
        #expect(Validators(["Last-Modified": changed])?.conditions == ["If-Modified-Since": changed])
        #expect(
            Validators(["ETag": "\"a\"", "Last-Modified": changed])?.conditions
                == ["If-None-Match": "\"a\"", "If-Modified-Since": changed])
        #expect(Validators(["Date": changed]) == nil)
        #expect(Validators(["ETag": "", "Last-Modified": "yesterday"]) == nil)
    }

    @Test("section 4.3.4: a 304 with another entity tag does not match the stored answer")
    func confirmation() throws {
        let validators = try #require(Validators(["ETag": "\"a\""]))
        #expect(validators.areConfirmed(by: [:]) && validators.areConfirmed(by: ["ETag": "\"a\""]))
        #expect(validators.areConfirmed(by: ["ETag": "W/\"a\""]))
        #expect(!validators.areConfirmed(by: ["ETag": "\"b\""]))
        #expect(try #require(Validators(["Last-Modified": changed])).areConfirmed(by: ["ETag": "\"b\""]))
    }

    @Test(
        "RFC 9110 section 8.8.2: a strong validator is a strong tag, or a date at least a minute before Date")
    func strong() {
        func strong(_ fields: HeaderFields) -> String? { Validators.strong(fields, now: now) }
        #expect(strong(["ETag": "\"a\""]) == "\"a\"")
        #expect(strong(["ETag": "W/\"a\"", "Last-Modified": changed, "Date": HTTPDate.format(now)]) == nil)
        #expect(strong(["ETag": "a"]) == nil && strong(["ETag": "\""]) == nil)
        #expect(strong(["Last-Modified": changed, "Date": HTTPDate.format(now)]) == changed)
        #expect(strong(["Last-Modified": changed, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"]) == nil)
        #expect(strong(["Last-Modified": changed]) == nil)
    }

    @Test("section 4.3.2: any of its tags, weak or strong, or a star meets If-None-Match")
    func ifNoneMatch() {
        for wanted in ["\"a\"", "W/\"a\"", "\"x\", \"a\", \"y\"", "*"] {
            #expect(isMet(["If-None-Match": wanted], ["ETag": "\"a\""]))
            #expect(isMet(["If-None-Match": wanted], ["ETag": "W/\"a\""]))
        }
        #expect(!isMet(["If-None-Match": "\"b\""], ["ETag": "\"a\""]))
        #expect(!isMet(["If-None-Match": "\"a\""], [:]))
    }

    @Test("section 4.3.2: If-None-Match goes before If-Modified-Since")
    func precedence() {
        let stored: HeaderFields = ["ETag": "\"a\"", "Last-Modified": changed]
        #expect(!isMet(["If-None-Match": "\"b\"", "If-Modified-Since": HTTPDate.format(now)], stored))
        #expect(isMet(["If-None-Match": "\"a\"", "If-Modified-Since": HTTPDate.format(0)], stored))
    }

    @Test(
        "section 4.3.2: an unchanged file meets If-Modified-Since, judged by Date where there is no Last-Modified"
    )
    func ifModifiedSince() {
        #expect(isMet(["If-Modified-Since": changed], ["Last-Modified": changed]))
        #expect(isMet(["If-Modified-Since": "Sunday, 06-Nov-94 08:49:37 GMT"], ["Last-Modified": changed]))
        #expect(!isMet(["If-Modified-Since": HTTPDate.format(0)], ["Last-Modified": changed]))
        #expect(isMet(["If-Modified-Since": HTTPDate.format(now)], ["Date": changed]))
        #expect(!isMet(["If-Modified-Since": "yesterday"], ["Last-Modified": changed]))
        #expect(!isMet([:], ["Last-Modified": changed]))
    }

    private func isMet(_ request: HeaderFields, _ response: HeaderFields) -> Bool {
        Validators.isNotModified(request, by: response, now: now)
    }
}
