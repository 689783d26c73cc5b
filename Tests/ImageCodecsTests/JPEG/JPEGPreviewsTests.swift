import ImageCodecs
import TestTraits
import Testing

@Suite("JPEG previews", .bounded)
struct JPEGPreviewsTests {
    /// Feeds a file in pieces. Returns the pictures after each scan and at the end.
    private func pictures(_ bytes: [UInt8], pieces length: Int, fitting target: ImageSize? = nil) throws
        -> [Bitmap]
    {
        var previews = JPEGPreviews(fitting: target)
        var pictures: [Bitmap] = []
        for start in stride(from: 0, to: bytes.count, by: length) {
            let isBetter = try previews.append(Array(bytes[start..<min(start + length, bytes.count)]))
            if isBetter, !previews.isComplete { pictures.append(try #require(try previews.picture())) }
        }
        #expect(previews.isComplete)
        pictures.append(try #require(try previews.picture()))
        return pictures
    }

    @Test("each scan improves the picture, and the last one is the decoder's", arguments: [1, 7, 100])
    func better(length: Int) throws {
        let bytes = try Resources.bytes("JPEG/progressive-420.jpg")
        let whole = try ImageDecoders.standard.decode(bytes)
        let pictures = try pictures(bytes, pieces: length)
        #expect(pictures.count > 5)
        #expect(pictures.last == whole)
        #expect(pictures.dropLast().allSatisfy { $0.damage != nil && $0.size == whole.size })
        let first = try #require(pictures.first?.difference(to: whole))
        let late = try #require(pictures.dropLast().last?.difference(to: whole))
        #expect(first.mean > late.mean * 2)
    }

    @Test("a piece may have several scans, and the target size holds")
    func atOnce() throws {
        let bytes = try Resources.bytes("JPEG/progressive-444-restarts.jpg")
        let box = ImageSize(width: 9, height: 9)
        #expect(
            try pictures(bytes, pieces: bytes.count, fitting: box)
                == [ImageDecoders.standard.decode(bytes, fitting: box)])
    }

    @Test("a sequential file gives its picture at the end, and later bytes are ignored")
    func sequential() throws {
        let bytes = try Resources.bytes("JPEG/restarts.jpg")
        var previews = JPEGPreviews()
        #expect(try !previews.append(Array(bytes.dropLast(2))) && previews.picture() == nil)
        #expect(try previews.append(Array(bytes.suffix(2))))
        #expect(try !previews.append([1, 2, 3]) && previews.isComplete)
        #expect(try previews.picture() == ImageDecoders.standard.decode(bytes))
    }

    @Test("another format and a picture over the limits are refused as by the decoder")
    func refused() {
        var previews = JPEGPreviews()
        #expect(throws: ImageDecodingError.unrecognized) { try previews.append(Array("GIF89a".utf8)) }
        var limited = JPEGPreviews(limits: DecodingLimits(inputBytes: 4))
        #expect(throws: ImageDecodingError.tooLarge(.inputBytes, value: 5, maximum: 4)) {
            try limited.append([0xFF, 0xD8, 0xFF, 0xE0, 0])
        }
    }
}
