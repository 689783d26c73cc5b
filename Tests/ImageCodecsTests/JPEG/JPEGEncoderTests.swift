import ImageCodecs
import SystemSupport
import TestTraits
import Testing

/// Checks the encoder with our decoder and the format's rules.
@Suite("JPEG encoder", .bounded)
struct JPEGEncoderTests {
    private static let sizes = [
        (1, 1), (1, 2), (2, 1), (1, 40), (40, 1), (7, 9), (8, 8), (9, 8), (8, 9), (16, 16), (17, 16),
        (16, 17),
        (24, 25), (33, 47),
    ]

    private func picture(_ width: Int, _ height: Int) throws -> Bitmap {
        try #require(TestPicture.bitmap(ppm: TestPicture(width: width, height: height).ppm))
    }

    private func flat(_ pixel: [UInt8], width: Int, height: Int) -> Bitmap {
        Bitmap(
            width: width, height: height,
            pixels: Array(repeating: pixel, count: width * height).flatMap(\.self))
    }

    private func noise(_ width: Int, _ height: Int) -> Bitmap {
        var random = SeededNumbers(seed: 17)
        let pixels = (0..<width * height * 4).map { index in
            // Extremes only, which give the largest coefficients.
            index % 4 == 3 ? 255 : UInt8(random.next() & 1) &* 255
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }

    @Test("a written picture is read back approximately, at every size", arguments: sizes)
    func everySize(width: Int, height: Int) throws {
        let bitmap = try picture(width, height)
        for subsampling in JPEGEncoder.Subsampling.allCases {
            let file = try JPEGEncoder(quality: 95, subsampling: subsampling).encode(bitmap)
            let read = try ImageDecoders.standard.decode(file)
            #expect(read.damage == nil && read.size == bitmap.size)
            // The picture has noise, and four pixels share one colour, which blurs its edges.
            let least = subsampling == .none ? 30.0 : 14
            #expect(try #require(read.peakSignalToNoise(to: bitmap)) > least)
        }
    }

    @Test("one pixel with a colour, also the last, makes a grey picture one of colours")
    func lastPixel() throws {
        let grey = flat([90, 90, 90, 255], width: 61, height: 43)
        var pixels = grey.pixels
        pixels[pixels.count - 2] ^= 1
        let coloured = Bitmap(width: 61, height: 43, pixels: pixels)
        #expect(try JPEGEncoder().encode(coloured) != JPEGEncoder().encode(grey))
    }

    @Test("a quality out of range is clamped")
    func clampedQuality() throws {
        let bitmap = try picture(20, 20)
        #expect(
            try JPEGEncoder(quality: -3).encode(bitmap) == JPEGEncoder(quality: 1).encode(bitmap))
        #expect(
            try JPEGEncoder(quality: 101).encode(bitmap) == JPEGEncoder(quality: 100).encode(bitmap))
    }

    @Test("black and white noise is read back at every quality", arguments: [1, 2, 50, 99, 100])
    func extremes(quality: Int) throws {
        let bitmap = noise(72, 56)
        for subsampling in JPEGEncoder.Subsampling.allCases {
            let file = try JPEGEncoder(quality: quality, subsampling: subsampling).encode(bitmap)
            let read = try ImageDecoders.standard.decode(file)
            #expect(read.damage == nil)
            if quality == 100, subsampling == .none {
                #expect(try #require(read.peakSignalToNoise(to: bitmap)) > 35)
            }
        }
    }

    @Test("a picture always gives the same bytes, on any thread")
    func deterministic() async throws {
        let bitmap = try picture(50, 70)
        let file = try JPEGEncoder().encode(bitmap)
        let others = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try JPEGEncoder().encode(bitmap) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(others.count == 8 && others.allSatisfy { $0 == file })
    }

    @Test("a picture with any transparency is refused", arguments: [0, 7, 8, 250, 499])
    func translucent(pixel: Int) throws {
        var pixels = flat([9, 99, 199, 255], width: 25, height: 20).pixels
        pixels[pixel * 4 + 3] = 254
        for colour in [199, 9] as [UInt8] {
            for index in stride(from: 0, to: pixels.count, by: 4) {
                pixels.replaceSubrange(index..<index + 3, with: [9, colour == 9 ? 9 : 99, colour])
            }
            let bitmap = Bitmap(width: 25, height: 20, pixels: pixels)
            for subsampling in JPEGEncoder.Subsampling.allCases {
                #expect(throws: ImageEncodingError.transparent) {
                    try JPEGEncoder(subsampling: subsampling).encode(bitmap)
                }
            }
        }
    }

    @Test("the longest side of the format is written, and a longer one is refused")
    func longest() throws {
        for (width, height) in [(65_535, 1), (1, 65_535)] {
            let bitmap = flat([3, 3, 3, 255], width: width, height: height)
            let file = try JPEGEncoder().encode(bitmap)
            #expect(try ImageHeader(parsing: file).size == bitmap.size)
        }
        for (width, height) in [(65_536, 1), (1, 65_536)] {
            #expect(throws: ImageEncodingError.tooLarge(side: 65_536, maximum: 65_535)) {
                try JPEGEncoder().encode(flat([1, 2, 3, 255], width: width, height: height))
            }
        }
    }

    @Test("errors say what to do")
    func messages() {
        #expect(ImageEncodingError.transparent.description.contains("PNG"))
        #expect(ImageEncodingError.tooLarge(side: 70_000, maximum: 65_535).description.contains("65535"))
    }
}
