import HTTPSemantics
import LazyImages
import Testing

@testable import CatalogueService

@Suite("ResponsePlan", .timeLimit(.minutes(30)))
struct ResponsePlanTests {
    private let file = FileMetadata(size: 100, seconds: 1_000_000, nanoseconds: 5, inode: 7)
    private let now = 2_000_000

    private func plan(_ fields: String..., method: String = "GET", file: FileMetadata? = nil) throws
        -> ResponsePlan
    {
        let text = (["\(method) /a.jpg HTTP/1.1", "Host: x"] + fields).joined(separator: "\r\n")
        return .serving(
            file ?? self.file, mediaType: "image/jpeg", to: try RequestHead(parsing: Array(text.utf8)),
            cacheSeconds: 60,
            now: now)
    }

    private func field(_ name: String, of plan: ResponsePlan) -> String? {
        plan.fields.first { $0.name == name }?.value
    }

    @Test("a file is served whole with what a cache needs to know")
    func whole() throws {
        let plan = try plan()
        #expect(plan.status == .ok)
        #expect(plan.body == .file(0..<100))
        #expect(field("Content-Length", of: plan) == "100")
        #expect(field("Content-Type", of: plan) == "image/jpeg")
        #expect(field("ETag", of: plan) == file.entityTag)
        #expect(field("Last-Modified", of: plan) == HTTPDate.format(1_000_000))
        #expect(field("Cache-Control", of: plan) == "max-age=60")
        #expect(field("Accept-Ranges", of: plan) == "bytes")
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
        "a range is answered with its part",
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=10-19", 10..<20), ("bytes=90-", 90..<100), ("bytes=-30", 70..<100),
            ("bytes=-1000", 0..<100), ("bytes=99-5000", 99..<100), ("BYTES=0-99", 0..<100),
            ("bytes=5-99999999999999999999", 5..<100), ("bytes=-99999999999999999999", 0..<100),
        ])
    func ranges(value: String, part: Range<Int>) throws {
        let plan = try plan("Range: \(value)")
        #expect(plan.status == .partialContent)
        #expect(plan.body == .file(part))
        #expect(field("Content-Range", of: plan) == "bytes \(part.lowerBound)-\(part.upperBound - 1)/100")
        #expect(field("Content-Length", of: plan) == "\(part.count)")
    }

    @Test(
        "a range past the end cannot be satisfied",
        arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])
    func unsatisfiable(value: String) throws {
        let plan = try plan("Range: \(value)")
        #expect(plan.status == .rangeNotSatisfiable)
        #expect(field("Content-Range", of: plan) == "bytes */100")
    }

    @Test("no range of an empty file can be satisfied", arguments: ["bytes=0-", "bytes=0-0", "bytes=-1"])
    func emptyFile(value: String) throws {
        let empty = FileMetadata(size: 0, seconds: 0, nanoseconds: 0, inode: 1)
        #expect(try plan("Range: \(value)", file: empty).status == .rangeNotSatisfiable)
        #expect(try plan(file: empty).body == .file(0..<0))
    }

    @Test(
        "a malformed range, another unit and several ranges are ignored",
        arguments: [
            "bytes=5-4", "bytes=", "bytes=-", "bytes=a-b", "bytes=+1-2", "bytes 0-1", "0-1", "lines=0-1",
            "bytes=0-1,5-6",
            "bytes=0--1", "bytes = 0-1",
        ])
    func ignoredRanges(value: String) throws {
        #expect(try plan("Range: \(value)").body == .file(0..<100))
    }

    @Test("a range counts for GET alone")
    func rangeOfHead() throws {
        #expect(try plan("Range: bytes=0-1", method: "HEAD").status == .ok)
    }

    @Test("a range given twice is ignored")
    func twoRanges() throws {
        #expect(try plan("Range: bytes=0-1", "Range: bytes=5-6").status == .ok)
    }

    @Test("If-None-Match compares weakly, knows lists and the star, and wins over dates")
    func ifNoneMatch() throws {
        let tag = file.entityTag
        let later = HTTPDate.format(1_500_000)
        for value in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let plan = try plan("If-None-Match: \(value)")
            #expect(plan.status == .notModified)
            #expect(plan.body == .none)
            #expect(field("ETag", of: plan) == tag)
        }
        #expect(try plan("If-None-Match: \"x\"", "If-Modified-Since: \(later)").status == .ok)
        #expect(try plan("If-None-Match: \(tag.dropLast())").status == .ok)
    }

    @Test("If-Modified-Since is held against the file's time in each form of date")
    func ifModifiedSince() throws {
        #expect(try plan("If-Modified-Since: Mon, 12 Jan 1970 13:46:40 GMT").status == .notModified)
        #expect(try plan("If-Modified-Since: Monday, 12-Jan-70 13:46:40 GMT").status == .notModified)
        #expect(try plan("If-Modified-Since: Mon Jan 12 13:46:40 1970").status == .notModified)
        #expect(try plan("If-Modified-Since: Mon, 12 Jan 1970 13:46:39 GMT").status == .ok)
        #expect(try plan("If-Modified-Since: yesterday").status == .ok)
    }

    @Test("If-Match and If-Unmodified-Since fail when the file is another")
    func preconditionFailed() throws {
        #expect(try plan("If-Match: \(file.entityTag)").status == .ok)
        #expect(try plan("If-Match: *").status == .ok)
        #expect(try plan("If-Match: W/\(file.entityTag)").status == .preconditionFailed)
        #expect(try plan("If-Match: \"x\"").status == .preconditionFailed)
        #expect(try plan("If-Unmodified-Since: \(HTTPDate.format(999_999))").status == .preconditionFailed)
        #expect(try plan("If-Unmodified-Since: \(HTTPDate.format(1_000_000))").status == .ok)
    }

    @Test("a part is given only of the very file that If-Range names")
    func ifRange() throws {
        func status(_ value: String) throws -> HTTPStatus {
            try plan("Range: bytes=0-1", "If-Range: \(value)").status
        }
        #expect(try status(file.entityTag) == .partialContent)
        #expect(try status("W/\(file.entityTag)") == .ok)
        #expect(try status("\"x\"") == .ok)
        #expect(try status(HTTPDate.format(1_000_000)) == .partialContent)
        #expect(try status(HTTPDate.format(1_000_001)) == .ok)
        #expect(try status("nonsense") == .ok)
    }

    @Test("a file changed within this second is not told apart by its date")
    func ifRangeTooYoung() throws {
        let young = FileMetadata(size: 100, seconds: now, nanoseconds: 0, inode: 1)
        #expect(try plan("Range: bytes=0-1", "If-Range: \(HTTPDate.format(now))", file: young).status == .ok)
    }

    @Test("a time ahead of the clock is not told")
    func future() throws {
        let future = FileMetadata(size: 1, seconds: now + 9, nanoseconds: 0, inode: 1)
        #expect(field("Last-Modified", of: try plan(file: future)) == HTTPDate.format(now))
    }

    @Test("the head says what the connection does, in the words of the client's version")
    func head() {
        func text(_ plan: ResponsePlan, _ keepAlive: Bool, _ version: Int) -> String {
            String(decoding: plan.head(now: 0, keepAlive: keepAlive, minorVersion: version), as: UTF8.self)
        }
        let plan = ResponsePlan.plain(.methodNotAllowed)
        let head = text(plan, true, 1)
        #expect(head.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"))
        #expect(
            head.contains("\r\nAllow: GET, HEAD\r\n")
                && head.contains("\r\nX-Content-Type-Options: nosniff\r\n"))
        #expect(head.hasSuffix("\r\n\r\n") && !head.contains("Connection:"))
        #expect(text(plan, true, 0).contains("\r\nConnection: keep-alive\r\n"))
        #expect(text(plan, false, 1).contains("\r\nConnection: close\r\n"))
    }
}
