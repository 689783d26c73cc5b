import ImageCodecs
import TestTraits
import Testing

@Suite("Complete and truncated files", .bounded)
struct CompletenessTests {
    private func error(_ bytes: [UInt8]) -> ImageDecodingError? {
        do throws(ImageDecodingError) {
            try ImageHeader.checkComplete(bytes)
            return nil
        } catch { return error }
    }

    @Test("whole files pass", arguments: Resources.jpegs)
    func whole(name: String) throws {
        #expect(error(try Resources.bytes("JPEG/\(name).jpg")) == nil)
        #expect(error(try Resources.bytes("JPEG/\(name).png")) == nil)
    }

    @Test("a file cut anywhere is truncated", arguments: ["restarts.jpg", "progressive-420.jpg", "grey.png"])
    func cut(name: String) throws {
        let file = try Resources.bytes("JPEG/\(name)")
        for length in 8..<file.count {
            #expect(error(Array(file.prefix(length))) == .truncated(offset: length))
        }
    }

    @Test("the previews of a PNG show the rows that have come", arguments: ["basn2c08", "basi2c08"])
    func previews(name: String) throws {
        let file = try Resources.bytes("PngSuite/\(name).png")
        let whole = try ImageDecoders.standard.decode(file)
        var previews = ImagePreviews(sizing: nil, limits: .standard)
        #expect(try previews.append(Array(file[..<20])) == nil)
        let first = try #require(try previews.append(Array(file[20..<file.count * 3 / 4])))
        #expect(first.damage != nil && first.size == whole.size && first.pixels != whole.pixels)
        #expect(first.pixels.prefix(4) == whole.pixels.prefix(4))
        #expect(try previews.append(Array(file[(file.count * 3 / 4)...])) == whole)
    }

    @Test("bytes after the end are ignored")
    func trailing() {
        #expect(error(JPEGWriter.grey + [1, 2, 3]) == nil)
        #expect(error(PNGWriter.file(imageData: PNGWriter.stored(PNGWriter.rows)) + [1, 2, 3]) == nil)
    }

    @Test("a thumbnail's end within a segment is not the file's end")
    func thumbnail() {
        let thumbnail = JPEGWriter.segment(0xE1, JPEGWriter.grey)
        #expect(error(JPEGWriter.start + thumbnail + JPEGWriter.frame()) != nil)
        #expect(error(JPEGWriter.file(thumbnail, JPEGWriter.frame())) == nil)
    }

    @Test("stuffed bytes, fill bytes and restart markers within a scan are not its end")
    func scanData() {
        let data: [UInt8] = [1, 0xFF, 0, 0xD9, 0xFF, 0xD3, 2, 0xFF]
        #expect(error(JPEGWriter.start + JPEGWriter.scan() + data) != nil)
        #expect(error(JPEGWriter.file(JPEGWriter.scan(), data)) == nil)
    }

    @Test("a marker is found at every position", arguments: 0..<40)
    func markerAtEachPlace(place: Int) {
        let data = [UInt8](repeating: 7, count: place)
        #expect(error(JPEGWriter.file(JPEGWriter.scan(), data)) == nil)
        #expect(error(JPEGWriter.start + JPEGWriter.scan() + data + [0xFF]) != nil)
    }

    @Test("impossible lengths are corrupt")
    func badLengths() {
        #expect(error([0xFF, 0xD8, 0xFF, 0xE0, 0, 1]) == .truncated(offset: 6))
        let chunk: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF] + Array("IDAT".utf8) + [0, 0, 0, 0]
        #expect(error(PNGWriter.signature + chunk) == .corrupt(segment: "length of a PNG chunk", offset: 8))
    }

    @Test("a WebP shorter than its header's length is truncated")
    func webP() {
        let file = Array("RIFF\u{0A}\0\0\0WEBPVP8 xx".utf8)
        #expect(error(file) == nil)
        #expect(error(Array(file.dropLast())) == .truncated(offset: file.count - 1))
    }

    @Test("formats without an end marker pass, and so do unknown bytes")
    func others() {
        #expect(error(Array("<svg>".utf8)) == nil)
        #expect(error([1, 2, 3]) == nil)
        #expect(error([]) == nil)
    }
}
