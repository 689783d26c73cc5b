/// How much of each pixel lies in a rectangle with round corners, in the middle of an image. Left and right are alike,
/// and so are top and bottom.
struct RoundedRectangle {
    /// A row that the rectangle has a part of.
    struct Row {
        /// The distance to the nearer of the rectangle's top and bottom edges, in rows.
        fileprivate let distance: Int
        /// How many columns at each end of the image lie outside, and how many lie outside or only in part.
        let outside: Int
        let partial: Int
    }

    private let width: Int
    private let height: Int
    /// The distance to the image's edges.
    private let inset: Int
    private let radius: Double

    /// - Parameters:
    ///   - image: the size of the image.
    ///   - inset: the distance to its edges. If it is too large, the rectangle is empty.
    ///   - radius: of the corners; at most half of the shorter side is used.
    init(in image: ImageSize, inset: Int = 0, radius: Double) {
        (width, height) = (image.width, image.height)
        self.inset = min(inset, max(width, height))
        self.radius = max(0, min(radius, Double(min(width, height) - 2 * self.inset) / 2))
    }

    /// Nil for a row outside.
    func row(_ row: Int) -> Row? {
        let distance = min(row, height - 1 - row) - inset
        guard distance >= 0, 2 * inset < width else { return nil }
        guard Double(distance) < radius else {
            return Row(distance: distance, outside: inset, partial: inset)
        }
        return Row(
            distance: distance, outside: inset + Int(arc(at: min(Double(distance + 1), radius))),
            partial: inset + Int(arc(at: Double(distance)).rounded(.up)))
    }

    /// How much of a pixel lies inside, 0 to 255.
    /// - Parameters:
    ///   - column: the distance to the nearer of the image's left and right edges.
    ///   - row: nil for a row outside.
    func coverage(_ column: Int, _ row: Row?) -> UInt8 {
        guard let row, column >= row.outside else { return 0 }
        return column >= row.partial ? 255 : area(column - inset, row.distance)
    }

    /// How far the arc is from the left edge, at a distance from the top edge; or the other way round.
    private func arc(at distance: Double) -> Double {
        let rise = radius - distance
        return radius - max(0, radius * radius - rise * rise).squareRoot()
    }

    /// The covered part of a pixel of a corner: the mean over strips of a 32nd.
    private func area(_ column: Int, _ row: Int) -> UInt8 {
        let strips = 32
        var sum = 0.0
        for strip in 0..<strips {
            let x = Double(column) + (Double(strip) + 0.5) / Double(strips)
            sum += min(max(Double(row + 1) - (x < radius ? arc(at: x) : 0), 0), 1)
        }
        return UInt8((sum / Double(strips) * 255).rounded())
    }
}

extension Bitmap {
    /// Makes the corners round: multiplies alpha by the coverage.
    mutating func roundCorners(radius: Double) {
        let shape = RoundedRectangle(in: size, radius: radius)
        changeEnds { y in
            let row = shape.row(y)
            return (row?.partial ?? 0, { shape.coverage($0, row) })
        } change: { pixels, index, coverage in
            let alpha = (Int(pixels[index &+ 3]) &* Int(coverage) &+ 127) / 255
            // An invisible pixel has no color: it is smaller in a PNG.
            if alpha == 0 { for channel in 0..<3 { pixels[index &+ channel] = 0 } }
            pixels[index &+ 3] = UInt8(truncatingIfNeeded: alpha)
        }
    }

    /// Draws a border inside the edges, over the image.
    mutating func drawBorder(_ color: ImageColor, width border: Int, radius: Double) {
        let outer = RoundedRectangle(in: size, radius: radius)
        let used = min(radius, Double(min(width, height)) / 2)
        let inner = RoundedRectangle(in: size, inset: border, radius: used - Double(border))
        let width = width
        changeEnds { y in
            let (outside, inside) = (outer.row(y), inner.row(y))
            return (
                inside?.partial ?? width,
                { outer.coverage($0, outside) - min(inner.coverage($0, inside), outer.coverage($0, outside)) }
            )
        } change: { pixels, index, coverage in
            pixels.draw(color, cover: Double(color.alpha) / 255 * Double(coverage) / 255, at: index)
        }
    }

    /// Changes pixels at both ends of each row.
    /// - Parameters:
    ///   - row: how many columns at each end of a row may change, and the coverage of a column.
    ///   - change: changes the pixel at an index by its coverage.
    private mutating func changeEnds(
        _ row: (_ y: Int) -> (columns: Int, coverage: (Int) -> UInt8),
        change: (_ pixels: inout MutableSpan<UInt8>, _ index: Int, _ coverage: UInt8) -> Void
    ) {
        let (width, height) = (width, height)
        self.change { pixels in
            for y in 0..<height {
                let (columns, coverage) = row(y)
                for column in 0..<min(columns, (width + 1) / 2) {
                    let part = coverage(column)
                    change(&pixels, (y &* width &+ column) &* 4, part)
                    let other = width &- 1 &- column
                    if other != column { change(&pixels, (y &* width &+ other) &* 4, part) }
                }
            }
        }
    }
}
