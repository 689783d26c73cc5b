import TestTraits
import Testing

@testable import ImageCodecs

@Suite("The planned size and memory of decoding", .bounded)
struct DecodingPlanTests {
    private func plan(_ file: [UInt8], notBelow least: ImageSize? = nil) throws -> DecodingPlan {
        try ImageDecoders.standard.plan(for: file.span, notBelow: least)
    }

    private func jpeg(_ name: String) throws -> [UInt8] { try Resources.bytes("JPEG/\(name).jpg") }

    @Test("the planned size is the bitmap's, at every scale", arguments: Resources.jpegs)
    func sizes(name: String) throws {
        let file = try jpeg(name)
        for side in [1, 20, 50, 90, nil] {
            let least = side.map { ImageSize(width: $0, height: $0) }
            let bitmap = try ImageDecoders.standard.decode(file.span, notBelow: least)
            let plan = try plan(file, notBelow: least)
            #expect(plan.size == bitmap.size)
            #expect(plan.memory > bitmap.cost)
        }
    }

    @Test("a progressive file needs the memory of its coefficients, two bytes a sample, at every scale")
    func progressive() throws {
        for side in [1, nil] {
            let least = side.map { ImageSize(width: $0, height: $0) }
            let baseline = try plan(jpeg("baseline-420"), notBelow: least)
            let progressive = try plan(jpeg("progressive-420"), notBelow: least)
            let samples = try #require(try ImageHeader(parsing: jpeg("baseline-420")).size).bitmapBytes / 4
            #expect(progressive.memory - baseline.memory > samples * 3)
        }
    }

    @Test("a PNG needs the memory of its rows, also if interlaced")
    func png() throws {
        for name in ["basn6a16", "basi6a16"] {
            let file = try Resources.bytes("PngSuite/\(name).png")
            let plan = try plan(file)
            #expect(plan.size == ImageSize(width: 32, height: 32))
            #expect(plan.memory > 32 * 32 * (4 + 8))
        }
    }

    @Test("a PNG of 484 megapixels needs a small part of its bitmap's memory when it is reduced")
    func largePNG() throws {
        var header: [UInt8] = [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52,
        ]
        header += [0, 0, 0x55, 0xF0, 0, 0, 0x55, 0xF0, 8, 2, 0, 0, 0, 0, 0, 0, 0]
        let reduced = try plan(header, notBelow: ImageSize(width: 342, height: 513))
        #expect(reduced.size == ImageSize(width: 2750, height: 2750))
        #expect(reduced.memory < 40 << 20)
        #expect(try plan(header).memory > 22_000 * 22_000 * 4)
    }

    @Test("a header truncated at any length is refused")
    func cutHeaders() throws {
        for file in [try jpeg("progressive-420"), try Resources.bytes("PngSuite/basi6a16.png")] {
            for length in 0..<29 {
                #expect(throws: ImageDecodingError.self) { try plan(Array(file.prefix(length))) }
            }
        }
    }
}
