import TestTraits
import Testing

@testable import ImageCodecs

@Suite("Resizing in planes", .bounded)
struct PlanarPictureTests {
    private func planes(_ file: [UInt8], notBelow least: ImageSize? = nil) throws -> PlanarPicture {
        try ImageDecoders.standard.decodePlanes(file.span, notBelow: least)
    }

    /// The pictures that an encoder makes of planes, and of the same picture in RGB.
    private func pair(
        _ file: [UInt8], to sizing: ImageSizing, notBelow least: ImageSize? = nil
    ) throws -> (planes: Bitmap, colours: Bitmap) {
        let encoder = JPEGEncoder(quality: 97)
        let decoders = ImageDecoders.standard
        let bitmap = try decoders.decode(file.span, notBelow: least).resampled(to: sizing)
        let planes = try planes(file, notBelow: least).resampled(to: sizing)
        #expect(planes.size == bitmap.size)
        #expect(planes.damage == nil)
        return (try decoders.decode(encoder.encode(planes)), try decoders.decode(encoder.encode(bitmap)))
    }

    @Test(
        "they resemble pictures resized in RGB, in every sampling, also at odd sizes",
        arguments: Resources.jpegs)
    func likeness(name: String) throws {
        let file = try Resources.bytes("JPEG/\(name).jpg")
        for (width, height) in [(61, 61), (30, 20)] {
            let target = ImageSize(width: width, height: height)
            for least in [nil, target] {
                let (planes, colours) = try pair(file, to: ImageSizing(target), notBelow: least)
                let likeness = try #require(planes.peakSignalToNoise(to: colours))
                #expect(likeness > 28, "\(name) to \(target)")
            }
        }
    }

    /// Red rises from left to right, blue from top to bottom.
    private func slope(_ width: Int, _ height: Int) -> Bitmap {
        let pixels = (0..<width * height).flatMap { place -> [UInt8] in
            [UInt8(place % width * 255 / width), 100, UInt8(place / width * 255 / height), 255]
        }
        return Bitmap(width: width, height: height, pixels: pixels)
    }

    @Test("chroma and luma stay aligned, in crops that start at odd columns and rows too")
    func phase() throws {
        for subsampling in JPEGEncoder.Subsampling.allCases {
            let file = try JPEGEncoder(quality: 97, subsampling: subsampling).encode(slope(99, 81))
            for sizing in [
                ImageSizing(ImageSize(width: 50, height: 50)),
                ImageSizing(ImageSize(width: 99, height: 81)),
                // Of 51 columns, and of 50 rows, in the middle.
                ImageSizing(ImageSize(width: 33, height: 42), mode: .fill(.center)),
                ImageSizing(ImageSize(width: 61, height: 36), mode: .fill(.center)),
            ] {
                let (planes, colours) = try pair(file, to: sizing)
                // A shift by one sample would be 2.6 levels or more.
                for channel in [0, 2] {
                    let sum = stride(from: channel, to: planes.pixels.count, by: 4).reduce(0) {
                        $0 + Int(planes.pixels[$1]) - Int(colours.pixels[$1])
                    }
                    let mean = Double(sum) / Double(planes.width * planes.height)
                    #expect(abs(mean) < 0.5, "\(subsampling) \(sizing)")
                }
            }
        }
    }

    @Test("a picture without colour becomes one component, from one or three")
    func grey() throws {
        let pixels = (0..<40 * 30).flatMap { place -> [UInt8] in
            let level = UInt8(place % 40 * 6)
            return [level, level, level, 255]
        }
        let bitmap = Bitmap(width: 40, height: 30, pixels: pixels)
        let one = try JPEGEncoder(quality: 97).encode(bitmap)
        let resampled = try planes(one).resampled(to: ImageSize(width: 17, height: 13))
        #expect(resampled.planes.count == 1)
        #expect(resampled.isGrey)
        #expect(try ImageDecoders.standard.decode(JPEGEncoder().encode(resampled)).isGrey)
        #expect(try !planes(JPEGEncoder().encode(slope(40, 30))).isGrey)
    }

    @Test("the same size keeps every sample, and a uniform picture stays uniform")
    func same() throws {
        let picture = try planes(JPEGEncoder().encode(slope(37, 21)))
        #expect(picture.isQuarter && picture.resampled(to: picture.size).samples == picture.samples)
        let full = try planes(JPEGEncoder(subsampling: .none).encode(slope(37, 21)))
        #expect(!full.isQuarter && full.resampled(to: full.size).isQuarter)
        let (before, after) = (full.planes[0], full.resampled(to: full.size).planes[0])
        #expect(before.size == after.size)
        let resampled = full.resampled(to: full.size).samples
        for row in 0..<before.size.height {
            let (a, b) = (before.offset + row * before.stride, after.offset + row * after.stride)
            #expect(full.samples[a..<a + before.size.width] == resampled[b..<b + after.size.width])
        }
        let one = (0..<1600).flatMap { _ -> [UInt8] in [200, 30, 90, 255] }
        let flat = try planes(
            JPEGEncoder().encode(Bitmap(width: 40, height: 40, pixels: one)))
        let levels = flat.planes.map { flat.samples[$0.offset] }
        for side in [1, 7, 23] {
            let result = flat.resampled(to: ImageSize(width: side, height: side))
            for (plane, level) in zip(result.planes, levels) {
                let row = result.samples[plane.offset..<plane.offset + plane.size.width]
                #expect(row.allSatisfy { $0 == level })
            }
        }
    }

    @Test("a truncated file gives incomplete planes", arguments: Resources.jpegs)
    func cut(name: String) throws {
        let file = try Resources.bytes("JPEG/\(name).jpg")
        #expect(try planes(file).damage == nil)
        #expect(try planes(Array(file.dropLast(60))).damage != nil)
    }

    @Test("the plan has the memory of the planes, at every scale", arguments: Resources.jpegs)
    func plan(name: String) throws {
        let file = try Resources.bytes("JPEG/\(name).jpg")
        for side in [1, 20, 50, nil] {
            let least = side.map { ImageSize(width: $0, height: $0) }
            let plan = try ImageDecoders.standard.plan(for: file.span, notBelow: least)
            let picture = try planes(file, notBelow: least)
            #expect(plan.size == picture.size)
            #expect(plan.planes?.cost == picture.cost)
        }
    }

    @Test("a PNG, a JPEG in RGB and one that Exif turns have no planes")
    func others() throws {
        typealias JPEG = JPEGWriter
        let file = try JPEGEncoder().encode(slope(16, 16))
        // Inserted at the start: Exif with a half turn, Adobe's RGB.
        let half: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0]
        let header: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0, 0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1]
        let exif = JPEG.segment(0xE1, header + half)
        let colours: [UInt8] = [0x41, 0x64, 0x6F, 0x62, 0x65, 0, 100, 0, 0, 0, 0, 0]
        let adobe = JPEG.segment(0xEE, colours)
        let withoutJFIF = Array(file[..<2]) + Array(file[20...])
        #expect(try ImageDecoders.standard.plan(for: withoutJFIF.span, notBelow: nil).planes != nil)
        let png = PNGEncoder().encode(slope(16, 16))
        let turned = Array(file[..<2]) + exif + Array(file[2...])
        let rgb = Array(file[..<2]) + adobe + Array(withoutJFIF[2...])
        for other in [png, turned, rgb] {
            #expect(try ImageDecoders.standard.plan(for: other.span, notBelow: nil).planes == nil)
            #expect(throws: ImageDecodingError.self) { try planes(other) }
        }
    }
}
