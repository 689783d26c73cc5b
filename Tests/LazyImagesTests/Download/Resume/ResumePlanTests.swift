import TestTraits
import Testing

@testable import LazyImages

@Suite("Resuming a partial body", .bounded)
struct ResumePlanTests {
    private let plan = ResumePlan(offset: 500, total: 1234, validator: "\"a\"")

    @Test("the rest is requested on the condition that the file has not changed")
    func fields() { #expect(plan.fields == ["Range": "bytes=500-", "If-Range": "\"a\""]) }

    @Test("a 206 from the partial body's end to the file's end is the rest")
    func resumes() {
        #expect(verdict(206, "bytes 500-1233/1234") == .resumes)
        #expect(verdict(206, "bytes 500-1233/*") == .resumes)
        #expect(verdict(206, "bytes 500-1233/1234", etag: "\"a\"") == .resumes)
        #expect(
            ResumePlan(offset: 500, total: nil, validator: "\"a\"").verdict(on: head(206, "bytes 500-600/*"))
                == .resumes)
        let dated = ResumePlan(offset: 500, total: nil, validator: "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(dated.verdict(on: head(206, "bytes 500-600/601", etag: "\"b\"")) == .resumes)
    }

    @Test(
        "a 206 of another range, another length or another file is not used",
        arguments: [
            "bytes 0-1233/1234", "bytes 501-1233/1234", "bytes 499-1233/1234", "bytes 500-1234/1235",
            "bytes 500-999/1234", "bytes */1234", "", "nonsense",
        ])
    func otherPart(range: String) { #expect(verdict(206, range) == .cannotResume) }

    @Test("a 206 with another entity tag, or without a range, is not used")
    func otherState() {
        #expect(verdict(206, "bytes 500-1233/1234", etag: "\"b\"") == .cannotResume)
        #expect(plan.verdict(on: ResponseHead(status: 206)) == .cannotResume)
    }

    @Test("a 200 starts over, a 416 asks for a new request, and another status says nothing about the body")
    func others() {
        #expect(verdict(200, nil) == .restarts && verdict(416, "bytes */10") == .cannotResume)
        for status in [301, 304, 404, 500, 503] { #expect(verdict(status, nil) == .isUnrelated) }
    }

    private func verdict(_ status: Int, _ range: String?, etag: String? = nil) -> ResumePlan.Verdict {
        plan.verdict(on: head(status, range, etag: etag))
    }

    private func head(_ status: Int, _ range: String?, etag: String? = nil) -> ResponseHead {
        var fields = HeaderFields()
        fields["Content-Range"] = range
        fields["ETag"] = etag
        return ResponseHead(status: status, fields: fields)
    }
}
