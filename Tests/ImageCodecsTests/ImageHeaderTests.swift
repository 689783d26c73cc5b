import ImageCodecs
import TestTraits
import Testing

@Suite("Headers", .bounded)
struct ImageHeaderTests {
    private func size(_ bytes: [UInt8]) throws -> ImageSize? { try ImageHeader(parsing: bytes).size }

    @Test("the size of each format is read")
    func sizes() throws {
        let expected = ImageSize(width: 300, height: 200)
        #expect(try size(JPEGWriter.start + JPEGWriter.frame(width: 300, height: 200)) == expected)
        #expect(try size(PNGWriter.file(PNGWriter.header(width: 300, height: 200))) == expected)
        #expect(try size(Array("GIF89a".utf8) + [0x2C, 1, 200, 0]) == expected)
        #expect(try size(webP("VP8X") + [0, 0, 0, 0, 0x2B, 1, 0, 199, 0, 0]) == expected)
        #expect(try size(webP("VP8L") + [0x2F, 0x2B, 0xC1, 0x31, 0, 0, 0, 0, 0, 0]) == expected)
        #expect(try size(webP("VP8 ") + [0, 0, 0, 0x9D, 1, 0x2A, 0x2C, 1, 200, 0]) == expected)
        #expect(try size(bitmapFile([40, 0, 0, 0, 0x2C, 1, 0, 0, 200, 0, 0, 0])) == expected)
        #expect(try size(bitmapFile([40, 0, 0, 0, 0x2C, 1, 0, 0, 0x38, 0xFF, 0xFF, 0xFF])) == expected)
        #expect(try size(bitmapFile([12, 0, 0, 0, 0x2C, 1, 200, 0])) == expected)
        #expect(try size(Array("<svg>".utf8)) == nil)
    }

    private func webP(_ chunk: String) -> [UInt8] { Array("RIFF\0\0\0\0WEBP\(chunk)\0\0\0\0".utf8) }
    private func bitmapFile(_ rest: [UInt8]) -> [UInt8] {
        Array("BM".utf8) + Array(repeating: 0, count: 12) + rest
    }

    @Test("orientations 5 to 8 swap the sides, 1 to 4 do not", arguments: UInt8(1)...8, [true, false])
    func orientation(value: UInt8, isBigEndian: Bool) throws {
        let exif = JPEGWriter.exif(orientation: value, isBigEndian: isBigEndian)
        let size = try size(JPEGWriter.start + exif + JPEGWriter.frame(width: 300, height: 200))
        let upright = ImageSize(width: 300, height: 200)
        #expect(size == (value < 5 ? upright : ImageSize(width: 200, height: 300)))
    }

    @Test("an invalid orientation is ignored", arguments: [UInt8(0), 9, 255])
    func badOrientation(value: UInt8) throws {
        let exif = JPEGWriter.exif(orientation: value)
        let size = try size(JPEGWriter.start + exif + JPEGWriter.frame(width: 300, height: 200))
        #expect(size == ImageSize(width: 300, height: 200))
    }

    @Test("a header cut at any byte is truncated")
    func truncated() {
        let files = [
            JPEGWriter.start + JPEGWriter.exif(orientation: 6) + JPEGWriter.frame(),
            Array(PNGWriter.file(PNGWriter.header()).prefix(24)),
        ]
        for file in files {
            for length in 8..<file.count {
                #expect(throws: ImageDecodingError.truncated(offset: length)) {
                    try ImageHeader(parsing: Array(file.prefix(length)))
                }
            }
        }
    }

    @Test("a size of zero is refused")
    func nought() {
        func error(_ bytes: [UInt8]) -> ImageDecodingError? {
            do throws(ImageDecodingError) {
                _ = try ImageHeader(parsing: bytes)
                return nil
            } catch { return error }
        }
        #expect(
            error(JPEGWriter.start + JPEGWriter.frame(width: 0))
                == .corrupt(segment: "frame width", offset: 2))
        #expect(
            error(JPEGWriter.file(JPEGWriter.frame(height: 0)))
                == .corrupt(segment: "JPEG without a height", offset: 2))
        #expect(
            error(PNGWriter.file(PNGWriter.header(width: 0))) == .corrupt(segment: "size in IHDR", offset: 16)
        )
        #expect(
            error(PNGWriter.file(PNGWriter.header(width: 1 << 31)))
                == .corrupt(segment: "size in IHDR", offset: 16))
        // The first image may still have a size.
        #expect(error(Array("GIF89a".utf8) + [0, 0, 1, 0]) == .truncated(offset: 10))
        #expect(error(Array("hello".utf8)) == .unrecognized)
    }
}
