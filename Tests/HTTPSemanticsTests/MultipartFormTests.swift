import HTTPSemantics
import TestTraits
import Testing

@Suite("MultipartForm, RFC 7578 and RFC 2046 section 5.1.1", .bounded)
struct MultipartFormTests {
    private func field(_ name: String, _ value: String, boundary: String = "b") -> String {
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
    }

    private func parse(_ text: String, boundary: String = "b") throws -> [MultipartForm.Part] {
        try MultipartForm(parsing: Array(text.utf8), boundary: boundary).parts
    }

    private func failure(_ text: String, boundary: String = "b") -> MultipartForm.Failure? {
        failure(Array(text.utf8), boundary: boundary)
    }

    private func failure(_ bytes: [UInt8], boundary: String = "b") -> MultipartForm.Failure? {
        do {
            _ = try MultipartForm(parsing: bytes, boundary: boundary)
            return nil
        } catch {
            return error
        }
    }

    @Test("parts are parsed in order, with names, file names and types")
    func parts() throws {
        let parts = try parse(
            field("film[title]", "El Camión") + field("empty", "")
                + "--b  \r\ncontent-disposition: Form-Data; name=poster; filename=\"a b.jpg\"\r\n"
                + "Content-Type: image/jpeg\r\nX-Other: 1\r\n\r\nline\r\n\r\nline\r\n--b--\r\nepilogue")
        #expect(parts.map(\.name) == ["film[title]", "empty", "poster"])
        #expect(parts.map(\.text) == ["El Camión", "", "line\r\n\r\nline"])
        #expect(parts.map(\.filename) == [nil, nil, "a b.jpg"])
        #expect(parts[2].contentType?.mediaType == "image/jpeg" && parts[0].contentType == nil)
    }

    @Test("a body may have any bytes, also text that resembles a boundary")
    func binary() throws {
        var body =
            [UInt8](0...255) + Array("\r\n--bc\r\n--b x\r\n-b--\r\n--\r\n\r".utf8) + Array("--b--".utf8)
        body += [0x0D]
        let form =
            Array("--b\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\n".utf8) + body
            + Array("\r\n--b--".utf8)
        let parts = try MultipartForm(parsing: form, boundary: "b").parts
        #expect(parts.count == 1)
        #expect(parts.first.map { Array($0.body) } == body)
    }

    @Test("a preamble is skipped, and an empty body may directly follow its header")
    func preamble() throws {
        #expect(try parse("hello\r\n" + field("a", "1") + "--b--").map(\.text) == ["1"])
        let bare = "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n--b--"
        #expect(try parse(bare).map(\.text) == [""])
        #expect(try parse("--b--").isEmpty)
    }

    @Test("every boundary that RFC 2046 allows is accepted, and no other")
    func boundaries() throws {
        let boundary = "'()+_,-./:=? aZ9"
        #expect(
            try parse(field("a", "1", boundary: boundary) + "--\(boundary)--", boundary: boundary).count == 1)
        for bad in ["", "a ", "a\"", "é", String(repeating: "a", count: 71)] {
            #expect(failure("--\(bad)--", boundary: bad) == .badBoundary)
        }
    }

    @Test(
        "a truncated or malformed form is refused",
        arguments: [
            "", "--b", "--b\r\n", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx",
            "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b",
            "--b\nContent-Disposition: form-data; name=a\n\nx\n--b--",
            "--b\r\n\r\nx\r\n--b--", "--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--",
            "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--", "--b\r\nno colon\r\n\r\nx\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=a\r\n folded\r\n\r\nx\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=c\r\n\r\nx\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=a\r\nContent-Type: nonsense\r\n\r\nx\r\n--b--",
        ])
    func malformed(text: String) {
        if case .malformed = failure(text) { return }
        Issue.record("parsed as a form: \(text.debugDescription)")
    }

    @Test("the number of parts and the size of their headers are limited")
    func limits() {
        let many = String(repeating: field("a", "1"), count: MultipartForm.maximumParts + 1) + "--b--"
        #expect(failure(many) == .tooManyParts(limit: MultipartForm.maximumParts))
        let long = String(repeating: "x", count: MultipartForm.maximumHeader)
        if case .malformed = failure("--b\r\nX: \(long)\r\n" + field("a", "1").dropFirst(5) + "--b--") {
            return
        }
        Issue.record("an endless header was read")
    }

    @Test("a truncated form is refused; with a changed byte it is read, or refused at a place in it")
    func fuzz() {
        let form = Array((field("a", "1") + field("b", "\r\n-b\r\n") + "--b--\r\n").utf8)
        var refused = 0
        for end in form.indices {
            // The end of the last line may be missing.
            #expect((failure(Array(form[..<end])) == nil) == (end >= form.count - 2), "cut at \(end)")
        }
        for index in form.indices {
            for byte in [0, 0x0A, 0x0D, 0x22, 0x2D, 0xFF] as [UInt8] {
                var changed = form
                changed[index] = byte
                switch failure(changed) {
                case nil: continue
                case .malformed(_, let offset):
                    #expect((0...form.count).contains(offset), "\(byte) at \(index)")
                case let other?: Issue.record("\(byte) at \(index): \(other)")
                }
                refused += 1
            }
        }
        #expect(refused > 0)
    }
}
