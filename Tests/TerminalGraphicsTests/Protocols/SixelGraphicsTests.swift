import ImageCodecs
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

@Suite("Pictures as sixels", .bounded)
struct SixelGraphicsTests {
    private let cell = ImageSize(width: 8, height: 12)

    private func picture(_ bitmap: Bitmap, _ columns: Int, _ rows: Int) -> TerminalPicture {
        TerminalPicture(
            bitmap, within: CellSize(columns: columns, rows: rows), cell: cell, step: SixelGraphics.bandHeight
        )
    }

    @Test("a uniform picture is one run per band")
    func plain() {
        let red = Pictures.bitmap(8, 12) { _, _ in [255, 0, 0, 255] }
        let drawing = SixelGraphics.drawing(of: picture(red, 1, 1))
        #expect(
            String(decoding: drawing, as: UTF8.self)
                == "\u{1B}P7;1;q\"1;1;8;12#0;2;100;0;0#0!8~-#0!8~\u{1B}\\")
    }

    @Test("colours side by side are drawn from left to right, overlapping ones after a carriage return")
    func passes() {
        let halves = Pictures.bitmap(8, 12) { column, row in
            row >= 6 ? [0, 0, 0, 255] : column < 4 ? [255, 255, 255, 255] : [0, 0, 255, 255]
        }
        let text = String(decoding: SixelGraphics.drawing(of: picture(halves, 1, 1)), as: UTF8.self)
        #expect(text.hasSuffix("#0!4~#1!4~-#2!8~\u{1B}\\"))
        let mixed = Pictures.bitmap(8, 12) { _, row in row == 0 ? [0, 0, 0, 255] : [255, 255, 255, 255] }
        #expect(
            String(decoding: SixelGraphics.drawing(of: picture(mixed, 1, 1)), as: UTF8.self)
                .hasSuffix("#0!8@$#1!8}-#1!8~\u{1B}\\"))
    }

    @Test("transparent pixels are not drawn, nor rows of pixels below the last whole band")
    func transparent() throws {
        let left = Pictures.bitmap(8, 12) { column, _ in [10, 200, 30, column < 3 ? 255 : 0] }
        let shown = try #require(SixelScreen(SixelGraphics.drawing(of: picture(left, 1, 1)))).bitmap
        #expect(shown.pixel(2, 11).w == 255 && shown.pixel(3, 0).w == 0)
        let cell = ImageSize(width: 10, height: 19)
        let tall = TerminalPicture(
            Pictures.photograph(30, 90), within: CellSize(columns: 20, rows: 5), cell: cell, step: 6)
        let screen = try #require(SixelScreen(SixelGraphics.drawing(of: tall)))
        #expect(screen.height == 90 && screen.bitmap.pixel(0, 89).w == 255)
    }

    @Test(
        "a photograph keeps 30 dB, and its errors are diffused: averaging brings it nearer"
    )
    func photograph() throws {
        let picture = picture(Pictures.photograph(120, 180), 15, 15)
        let screen = try #require(SixelScreen(SixelGraphics.drawing(of: picture)))
        #expect(try #require(screen.bitmap.peakSignalToNoise(to: picture.bitmap)) > 30)
        #expect(screen.longestPlainRun <= 3)
        let palette = AdaptivePalette(of: picture.bitmap, error: 10)
        let plain = Pictures.bitmap(120, 180) { column, row in
            palette.colours[Int(palette.index(of: picture.bitmap.pixel(column, row)))]
        }
        let small = ImageSize(width: 30, height: 45)
        let averaged = try [screen.bitmap, plain].map { shown in
            try #require(shown.resized(to: small).peakSignalToNoise(to: picture.bitmap.resized(to: small)))
        }
        #expect(averaged[0] > averaged[1] + 2)
    }

    @Test("a grey photograph gets only the greys it needs")
    func greys() throws {
        let photograph = Pictures.photograph(160, 240)
        let grey = Pictures.bitmap(160, 240) { column, row in
            let level = photograph.pixel(column, row).x
            return [level, level, level, 255]
        }
        let shown = try #require(SixelScreen(SixelGraphics.drawing(of: picture(grey, 20, 20)))).bitmap
        #expect(Set((0..<240).flatMap { row in (0..<160).map { shown.pixel($0, row) } }).count <= 64)
        #expect(try #require(shown.peakSignalToNoise(to: grey)) > 35)
    }

    @Test("uniform areas stay uniform beside a photograph, and a picture of few colours keeps each")
    func flat() throws {
        let photograph = Pictures.photograph(80, 120)
        let half = Pictures.bitmap(80, 120) { column, row in
            column < 40 ? photograph.pixel(column, row) : [201, 77, 33, 255]
        }
        let shown = try #require(SixelScreen(SixelGraphics.drawing(of: picture(half, 10, 10)))).bitmap
        let inside = (1..<119).flatMap { row in (42..<79).map { shown.pixel($0, row) } }
        #expect(Set(inside).count == 1)
        let few = Pictures.bitmap(80, 120) { column, row in
            SIMD4(UInt8(column / 10 * 17), UInt8(row / 15 * 17), 51, 255)
        }
        let exact = try #require(SixelScreen(SixelGraphics.drawing(of: picture(few, 10, 10)))).bitmap
        #expect(zip(exact.pixels, few.pixels).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }
}
