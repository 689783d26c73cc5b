import HTTPSemantics
import TestTraits
import Testing

@Suite("Preconditions, RFC 9110 section 13", .bounded)
struct PreconditionsTests {
    private func outcome(
        _ fields: HeaderFields, isRead: Bool = true, tag: String? = "\"7.json\""
    ) -> Preconditions.Outcome {
        Preconditions(
            fields, isRead: isRead, entityTag: tag, equivalentTags: ["\"7.json\"", "\"7.xml\""],
            lastModified: 1_000_000, now: 2_000_000
        ).outcome
    }

    @Test("If-Match accepts the tag of any format, lists and the star, but no weak tag")
    func ifMatch() {
        for value in ["\"7.json\"", "\"7.xml\"", "\"x\", \"7.xml\"", "*"] {
            #expect(outcome(["If-Match": value], isRead: false) == .proceed)
        }
        for value in ["W/\"7.json\"", "\"6.json\"", "7.json", ""] {
            #expect(outcome(["If-Match": value], isRead: false) == .failed)
        }
        #expect(outcome(["If-Match": "*"], isRead: false, tag: nil) == .failed)
    }

    @Test("If-None-Match compares weakly; a read compares only the answer's own format")
    func ifNoneMatch() {
        for value in ["\"7.json\"", "W/\"7.json\"", "*", "\"x\",\"7.json\""] {
            #expect(outcome(["If-None-Match": value]) == .notModified)
            #expect(outcome(["If-None-Match": value], isRead: false) == .failed)
        }
        #expect(outcome(["If-None-Match": "\"7.xml\""]) == .proceed)
        #expect(outcome(["If-None-Match": "\"7.xml\""], isRead: false) == .failed)
        #expect(outcome(["If-None-Match": "*"], isRead: false, tag: nil) == .proceed)
    }

    @Test("dates count only without entity tags")
    func dates() {
        let (before, same) = (HTTPDate.format(999_999), HTTPDate.format(1_000_000))
        #expect(outcome(["If-Modified-Since": same]) == .notModified)
        #expect(outcome(["If-Modified-Since": before]) == .proceed)
        #expect(outcome(["If-Modified-Since": same, "If-None-Match": "\"x\""]) == .proceed)
        #expect(outcome(["If-Modified-Since": same], isRead: false) == .proceed)
        #expect(outcome(["If-Unmodified-Since": before]) == .failed)
        #expect(outcome(["If-Unmodified-Since": same]) == .proceed)
        #expect(outcome(["If-Unmodified-Since": before, "If-Match": "*"]) == .proceed)
    }

    @Test("If-Range allows a range only for the same version of the file")
    func ifRange() {
        func allows(_ fields: HeaderFields, now: Int = 2_000_000) -> Bool {
            Preconditions(fields, isRead: true, entityTag: "\"a\"", lastModified: 1_000_000, now: now)
                .allowsRange
        }
        #expect(allows([:]) && allows(["If-Range": "\"a\""]))
        #expect(allows(["If-Range": HTTPDate.format(1_000_000)]))
        #expect(!allows(["If-Range": HTTPDate.format(1_000_000)], now: 1_000_000))
        #expect(
            !allows(["If-Range": "W/\"a\""]) && !allows(["If-Range": "\"b\""]) && !allows(["If-Range": "x"]))
    }
}
