import Glibc
import HTTPSemantics
import SystemSupport
import TestTraits
import Testing

@testable import CatalogueService
@testable import HTTPServer

@Suite("FileAnswer", .bounded)
struct FileAnswerTests {
    private let file = FileMetadata(size: 100, seconds: 1_000_000, nanoseconds: 5, inode: 7)
    private let now = 2_000_000

    private func answer(_ fields: String..., method: String = "GET", file: FileMetadata? = nil) throws
        -> HTTPResponse
    {
        let text = (["\(method) /a.jpg HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n")
        return .serving(
            ServedFile(owning: Descriptor(unsafe open("/dev/null", O_RDONLY)), metadata: file ?? self.file),
            mediaType: "image/jpeg", to: try RequestHead(parsing: Array(text.utf8)[...]),
            cacheSeconds: 60,
            now: now)
    }

    /// The range of the file in the answer; nil without a body.
    private func part(of answer: HTTPResponse) -> Range<Int>? {
        if case .file(_, let part) = answer.body { part } else { nil }
    }

    @Test("a whole file is served with the fields that a cache needs")
    func whole() throws {
        let response = try answer()
        #expect(response.status == .ok)
        #expect(part(of: response) == 0..<100)
        #expect("\(response.body.count)" == "100")
        #expect(response.fields["Content-Type"] == "image/jpeg")
        #expect(response.fields["ETag"] == file.entityTag)
        #expect(response.fields["Last-Modified"] == HTTPDate.format(1_000_000))
        #expect(response.fields["Cache-Control"] == "max-age=60")
        #expect(response.fields["Accept-Ranges"] == "bytes")
    }

    @Test("the entity tag changes with size, time and inode")
    func entityTag() {
        let others = [
            FileMetadata(size: 101, seconds: 1_000_000, nanoseconds: 5, inode: 7),
            FileMetadata(size: 100, seconds: 1_000_001, nanoseconds: 5, inode: 7),
            FileMetadata(size: 100, seconds: 1_000_000, nanoseconds: 6, inode: 7),
            FileMetadata(size: 100, seconds: 1_000_000, nanoseconds: 5, inode: 8),
            FileMetadata(size: -1, seconds: -1, nanoseconds: 0, inode: .max),
        ]
        #expect(Set(others.map(\.entityTag) + [file.entityTag]).count == 6)
    }

    @Test(
        "a range is answered with 206 and its bytes",
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=10-19", 10..<20), ("bytes=90-", 90..<100), ("bytes=-30", 70..<100),
            ("bytes=-1000", 0..<100), ("bytes=99-5000", 99..<100), ("BYTES=0-99", 0..<100),
            ("bytes=5-99999999999999999999", 5..<100), ("bytes=-99999999999999999999", 0..<100),
        ])
    func ranges(value: String, part: Range<Int>) throws {
        let response = try answer("Range: \(value)")
        #expect(response.status == .partialContent)
        #expect(self.part(of: response) == part)
        #expect(response.fields["Content-Range"] == "bytes \(part.lowerBound)-\(part.upperBound - 1)/100")
        #expect("\(response.body.count)" == "\(part.count)")
    }

    @Test(
        "a range past the end cannot be satisfied",
        arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])
    func unsatisfiable(value: String) throws {
        let response = try answer("Range: \(value)")
        #expect(response.status == .rangeNotSatisfiable)
        #expect(response.fields["Content-Range"] == "bytes */100")
    }

    @Test("no range of an empty file can be satisfied", arguments: ["bytes=0-", "bytes=0-0", "bytes=-1"])
    func emptyFile(value: String) throws {
        let empty = FileMetadata(size: 0, seconds: 0, nanoseconds: 0, inode: 1)
        #expect(try answer("Range: \(value)", file: empty).status == .rangeNotSatisfiable)
        #expect(part(of: try answer(file: empty)) == 0..<0)
    }

    @Test(
        "a malformed range, another unit and several ranges are ignored",
        arguments: [
            "bytes=5-4", "bytes=", "bytes=-", "bytes=a-b", "bytes=+1-2", "bytes 0-1", "0-1", "lines=0-1",
            "bytes=0-1,5-6",
            "bytes=0--1", "bytes = 0-1",
        ])
    func ignoredRanges(value: String) throws {
        #expect(part(of: try answer("Range: \(value)")) == 0..<100)
    }

    @Test("a range counts only for GET")
    func rangeOfHead() throws {
        #expect(try answer("Range: bytes=0-1", method: "HEAD").status == .ok)
    }

    @Test("a repeated Range field is ignored")
    func twoRanges() throws {
        #expect(try answer("Range: bytes=0-1", "Range: bytes=5-6").status == .ok)
    }

    @Test("If-None-Match compares weakly, accepts lists and the star, and goes before dates")
    func ifNoneMatch() throws {
        let tag = file.entityTag
        let later = HTTPDate.format(1_500_000)
        for value in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let response = try answer("If-None-Match: \(value)")
            #expect(response.status == .notModified)
            #expect(part(of: response) == nil)
            #expect(response.fields["ETag"] == tag)
        }
        #expect(try answer("If-None-Match: \"x\"", "If-Modified-Since: \(later)").status == .ok)
        #expect(try answer("If-None-Match: \(tag.dropLast())").status == .ok)
    }

    @Test("If-Modified-Since compares with the file's time, in each form of date")
    func ifModifiedSince() throws {
        #expect(try answer("If-Modified-Since: Mon, 12 Jan 1970 13:46:40 GMT").status == .notModified)
        #expect(try answer("If-Modified-Since: Monday, 12-Jan-70 13:46:40 GMT").status == .notModified)
        #expect(try answer("If-Modified-Since: Mon Jan 12 13:46:40 1970").status == .notModified)
        #expect(try answer("If-Modified-Since: Mon, 12 Jan 1970 13:46:39 GMT").status == .ok)
        #expect(try answer("If-Modified-Since: yesterday").status == .ok)
    }

    @Test("If-Match and If-Unmodified-Since fail when the file has changed")
    func preconditionFailed() throws {
        #expect(try answer("If-Match: \(file.entityTag)").status == .ok)
        #expect(try answer("If-Match: *").status == .ok)
        #expect(try answer("If-Match: W/\(file.entityTag)").status == .preconditionFailed)
        #expect(try answer("If-Match: \"x\"").status == .preconditionFailed)
        #expect(try answer("If-Unmodified-Since: \(HTTPDate.format(999_999))").status == .preconditionFailed)
        #expect(try answer("If-Unmodified-Since: \(HTTPDate.format(1_000_000))").status == .ok)
        #expect(try answer("If-Unmodified-Since: \(HTTPDate.format(999_999))", "If-Match: *").status == .ok)
    }

    @Test("If-Range allows a range only for the same version of the file")
    func ifRange() throws {
        func status(_ value: String) throws -> HTTPStatus {
            try answer("Range: bytes=0-1", "If-Range: \(value)").status
        }
        #expect(try status(file.entityTag) == .partialContent)
        #expect(try status("W/\(file.entityTag)") == .ok)
        #expect(try status("\"x\"") == .ok)
        #expect(try status(HTTPDate.format(1_000_000)) == .partialContent)
        #expect(try status(HTTPDate.format(1_000_001)) == .ok)
        #expect(try status("nonsense") == .ok)
    }

    @Test("a file changed within this second gets no 304 by its date")
    func ifRangeTooYoung() throws {
        let young = FileMetadata(size: 100, seconds: now, nanoseconds: 0, inode: 1)
        #expect(
            try answer("Range: bytes=0-1", "If-Range: \(HTTPDate.format(now))", file: young).status == .ok)
    }

    @Test("a time ahead of the clock is not sent as Last-Modified")
    func future() throws {
        let future = FileMetadata(size: 1, seconds: now + 9, nanoseconds: 0, inode: 1)
        #expect(try answer(file: future).fields["Last-Modified"] == HTTPDate.format(now))
    }
}
