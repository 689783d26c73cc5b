import Foundation
import ImageCodecs
import TerminalGraphics
import TestSupport

/// The likeness of a picture in cells to the picture itself, both at 8 x 16 pixels a cell.
struct PictureQuality {
    /// Over all channels, in dB: larger is nearer.
    let psnr: Double
    /// The same after blurring both pictures (Gauss, 4 pixels), as the eye sees them from a distance.
    let blurredPSNR: Double
    /// Of luma, in windows of 1.5 pixels (Gauss): 1 for equal pictures.
    let ssim: Double

    /// - Parameter output: lines of cells as a program has printed them.
    init(of output: [UInt8], in cells: CellSize, comparedWith bitmap: Bitmap) throws {
        var screen = VirtualScreen(columns: cells.columns, rows: cells.rows + 1)
        for byte in output { screen.feed(byte == UInt8(ascii: "\n") ? [0x0D, 0x0A] : [byte]) }
        let drawn = try PixelPlanes(screen, cells)
        let size = ImageSize(width: cells.columns * GlyphShape.width, height: cells.rows * GlyphShape.height)
        let wanted = PixelPlanes(bitmap.resized(to: size))
        psnr = Self.psnr(drawn, wanted)
        blurredPSNR = Self.psnr(drawn.blurred(4), wanted.blurred(4))
        ssim = Self.ssim(drawn, wanted)
    }

    private static func psnr(_ one: PixelPlanes, _ other: PixelPlanes) -> Double {
        var sum = 0.0
        for (plane, reference) in zip(one.channels, other.channels) {
            for index in plane.indices {
                sum += Double((plane[index] - reference[index]) * (plane[index] - reference[index]))
            }
        }
        let mean = sum / Double(one.channels.count * one.width * one.height)
        return 10 * log10(255 * 255 / mean)
    }

    /// Wang, Bovik, Sheikh and Simoncelli, Image Quality Assessment, equation 13, with its constants.
    private static func ssim(_ one: PixelPlanes, _ other: PixelPlanes) -> Double {
        let blur = { (plane: [Float]) in
            GaussianBlur(1.5).blurred(plane, width: one.width, height: one.height)
        }
        let (a, b) = (one.luma, other.luma)
        let (meanA, meanB) = (blur(a), blur(b))
        let squareA = blur(zip(a, a).map { $0 * $1 })
        let squareB = blur(zip(b, b).map { $0 * $1 })
        let product = blur(zip(a, b).map { $0 * $1 })
        let (c1, c2) = (Float(6.5025), Float(58.5225))
        var sum = 0.0
        for index in a.indices {
            let means = meanA[index] * meanB[index]
            let squares = meanA[index] * meanA[index] + meanB[index] * meanB[index]
            let spread = squareA[index] + squareB[index] - squares
            let likeness = (2 * means + c1) * (2 * (product[index] - means) + c2)
            sum += Double(likeness / ((squares + c1) * (spread + c2)))
        }
        return sum / Double(a.count)
    }
}

/// A picture's red, green and blue, row by row, 0 to 255.
private struct PixelPlanes {
    let width: Int
    let height: Int
    var channels: [[Float]]

    /// A bitmap over black.
    init(_ bitmap: Bitmap) {
        width = bitmap.width
        height = bitmap.height
        channels = (0..<3).map { channel in
            (0..<bitmap.width * bitmap.height).map { pixel in
                Float(bitmap.pixels[pixel * 4 + channel]) * Float(bitmap.pixels[pixel * 4 + 3]) / 255
            }
        }
    }

    /// The content of a screen. The default is light grey on black.
    init(_ screen: VirtualScreen, _ cells: CellSize) throws {
        width = cells.columns * GlyphShape.width
        height = cells.rows * GlyphShape.height
        channels = Array(repeating: Array(repeating: 0, count: width * height), count: 3)
        var shapes: [String: GlyphShape] = [:]
        for row in 0..<cells.rows {
            for column in 0..<cells.columns {
                let cell = screen.cell(column: column, row: row)
                guard let shape = shapes[cell.text] ?? cell.text.unicodeScalars.first.flatMap(GlyphShape.init)
                else { throw BenchmarkFailure(description: "no shape is known for \(cell.text)") }
                shapes[cell.text] = shape
                paint(shape, cell.style, column, row)
            }
        }
    }

    private mutating func paint(_ shape: GlyphShape, _ style: CellStyle, _ column: Int, _ row: Int) {
        var ink = style.foreground.channels ?? SIMD3(repeating: 229)
        var paper = style.background.channels ?? SIMD3(repeating: 0)
        if style.attributes.contains(.reversed) { swap(&ink, &paper) }
        for channel in 0..<3 {
            let (dark, light) = (Float(paper[channel]), Float(ink[channel]))
            for (index, part) in shape.coverage.enumerated() {
                let line = row * GlyphShape.height + index / GlyphShape.width
                let place = line * width + column * GlyphShape.width + index % GlyphShape.width
                channels[channel][place] = dark + (light - dark) * part
            }
        }
    }

    /// BT.601.
    var luma: [Float] {
        (0..<width * height).map {
            0.299 * channels[0][$0] + 0.587 * channels[1][$0] + 0.114 * channels[2][$0]
        }
    }

    func blurred(_ sigma: Double) -> PixelPlanes {
        var blurred = self
        blurred.channels = channels.map { GaussianBlur(sigma).blurred($0, width: width, height: height) }
        return blurred
    }
}

/// A Gaussian of four deviations to each side. The picture is mirrored beyond its edges.
private struct GaussianBlur {
    private let weights: [Float]

    init(_ sigma: Double) {
        let reach = Int((4 * sigma).rounded())
        let raw = (-reach...reach).map { exp(-0.5 * Double($0 * $0) / (sigma * sigma)) }
        let sum = raw.reduce(0, +)
        weights = raw.map { Float($0 / sum) }
    }

    func blurred(_ plane: [Float], width: Int, height: Int) -> [Float] {
        let across = convolved(plane, lines: height, length: width, lineStep: width, step: 1)
        return convolved(across, lines: width, length: height, lineStep: 1, step: width)
    }

    private func convolved(
        _ plane: [Float], lines: Int, length: Int, lineStep: Int, step: Int
    ) -> [Float] {
        let reach = weights.count / 2
        let mirrored = (-reach..<length + reach).map { place in
            let folded = ((place % (2 * length)) + 2 * length) % (2 * length)
            return (folded < length ? folded : 2 * length - 1 - folded) * step
        }
        var result = plane
        for line in 0..<lines {
            for place in 0..<length {
                var sum: Float = 0
                for tap in weights.indices {
                    sum += weights[tap] * plane[line * lineStep + mirrored[place + tap]]
                }
                result[line * lineStep + place * step] = sum
            }
        }
        return result
    }
}
