/// The inverse transforms of a lossless image (RFC 9649 section 4), a row at a time. Pixels are ARGB numbers.
enum LosslessTransform {
    /// Each pixel is the difference from a prediction; the green of `modes` is the mode of a tile.
    case predictor(tileBits: Int, modes: [UInt32], width: Int, previous: [UInt32])
    /// Red and blue are differences from parts of green and red; `factors` has these parts for each tile.
    case colour(tileBits: Int, factors: [UInt32], width: Int)
    /// Red and blue are differences from green.
    case subtractGreen
    /// Green is an index of a palette; several indices share a pixel if there are few colours.
    case palette(colours: [UInt32], packedBits: Int, width: Int)

    /// Reads a transform of an image, whose width becomes that of the packed pixels.
    init(
        kind: Int, _ size: inout ImageSize, _ input: inout LosslessInput, in bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        switch kind {
        case 0, 1:
            let bits = try input.read(3, in: bytes) + 2
            let data = try LosslessPixels.image(size.divided(byPowerOfTwo: bits), &input, in: bytes)
            self =
                kind == 0
                ? .predictor(
                    tileBits: bits, modes: data, width: size.width,
                    // Above the first row there is black, and one more pixel to the right.
                    previous: [UInt32](repeating: 0, count: size.width + 1))
                : .colour(tileBits: bits, factors: data, width: size.width)
        case 2: self = .subtractGreen
        default:
            let count = try input.read(8, in: bytes) + 1
            var colours = try LosslessPixels.image(ImageSize(width: count, height: 1), &input, in: bytes)
            for index in 1..<max(1, count) { colours[index] = Self.sum(colours[index - 1], colours[index]) }
            let bits = count > 16 ? 0 : count > 4 ? 1 : count > 2 ? 2 : 3
            // An index past the palette is transparent black.
            colours += [UInt32](repeating: 0, count: 256 - colours.count)
            self = .palette(colours: colours, packedBits: bits, width: size.width)
            size = ImageSize(width: size.divided(byPowerOfTwo: bits).width, height: size.height)
        }
    }

    /// Undoes the transform for the next row. Rows come in order; `row` is as wide as the whole image.
    mutating func undo(_ number: Int, _ row: inout [UInt32]) {
        switch self {
        case .predictor(let bits, let modes, let width, var previous):
            self = .subtractGreen
            Self.unpredict(number, &row, above: &previous, bits, modes, width)
            self = .predictor(tileBits: bits, modes: modes, width: width, previous: previous)
        case .colour(let bits, let factors, let width):
            Self.addColours(number, &row, bits, factors, width)
        case .subtractGreen:
            var row = row.mutableSpan
            for column in 0..<row.count {
                let pixel = row[column]
                let green = pixel &>> 8 & 0xFF
                row[column] =
                    pixel & 0xFF00_FF00 | ((pixel & 0x00FF_00FF) &+ (green &<< 16 | green)) & 0x00FF_00FF
            }
        case .palette(let colours, let bits, let width):
            Self.unpack(&row, colours, bits, width)
        }
    }

    /// RFC 9649 section 4.4.
    private static func unpack(_ row: inout [UInt32], _ colours: [UInt32], _ bits: Int, _ width: Int) {
        let colours = colours.span
        var row = row.mutableSpan
        let indexBits = UInt32(8 &>> bits)
        let mask: UInt32 = 1 &<< indexBits &- 1
        // From the right, because the packed pixels lie at the beginning of the row.
        var end = width
        while end > 0 {
            let place = (end &- 1) &>> bits
            let start = place &<< bits
            var indices = row[place] &>> 8 & 0xFF
            for column in start..<end {
                row[column] = colours[Int(indices & mask)]
                indices &>>= indexBits
            }
            end = start
        }
    }

    /// RFC 9649 section 4.2.
    private static func addColours(
        _ number: Int, _ row: inout [UInt32], _ bits: Int, _ factors: [UInt32], _ width: Int
    ) {
        let factors = factors.span
        var row = row.mutableSpan
        let firstTile = (number >> bits) * ((width + 1 << bits - 1) >> bits)
        var column = 0
        while column < width {
            let factor = factors[firstTile &+ column &>> bits]
            let greenToRed = signed(factor)
            let greenToBlue = signed(factor &>> 8)
            let redToBlue = signed(factor &>> 16)
            let end = min(width, column &+ 1 &<< bits)
            while column < end {
                let pixel = row[column]
                let green = signed(pixel &>> 8)
                let red = Int32(truncatingIfNeeded: pixel &>> 16) &+ (greenToRed &* green) &>> 5
                let blue =
                    Int32(truncatingIfNeeded: pixel) &+ (greenToBlue &* green) &>> 5
                    &+ (redToBlue &* signed(UInt32(bitPattern: red))) &>> 5
                row[column] =
                    pixel & 0xFF00_FF00 | (UInt32(bitPattern: red) & 0xFF) &<< 16
                    | UInt32(bitPattern: blue) & 0xFF
                column &+= 1
            }
        }
    }

    /// The lowest byte as a signed number.
    @inline(__always)
    private static func signed(_ value: UInt32) -> Int32 {
        Int32(Int8(truncatingIfNeeded: value))
    }

    // MARK: Prediction

    /// RFC 9649 section 4.1. `above` is the row above and the first pixel of this row, and becomes this row.
    private static func unpredict(
        _ number: Int, _ row: inout [UInt32], above: inout [UInt32], _ bits: Int, _ modes: [UInt32],
        _ width: Int
    ) {
        var row = row.mutableSpan
        var above = above.mutableSpan
        defer {
            for column in 0..<width { above[column] = row[column] }
        }
        // The first row is predicted from the left, and its first pixel is opaque black.
        row[0] = sum(row[0], number == 0 ? 0xFF00_0000 : above[0])
        above[width] = row[0]
        if number == 0 {
            for column in 1..<max(1, width) { row[column] = sum(row[column], row[column &- 1]) }
            return
        }
        let modes = modes.span
        let firstTile = (number >> bits) * ((width + 1 << bits - 1) >> bits)
        var column = 1
        while column < width {
            let mode = modes[firstTile &+ column &>> bits] &>> 8 & 15
            let end = min(width, (column &>> bits &+ 1) &<< bits)
            predict(mode, column..<end, &row, above.span)
            column = end
        }
    }

    @inline(__always)
    private static func add(
        _ columns: Range<Int>, _ row: inout MutableSpan<UInt32>,
        _ prediction: (_ column: Int, _ left: UInt32) -> UInt32
    ) {
        var left = row[columns.lowerBound &- 1]
        for column in columns {
            left = sum(row[column], prediction(column, left))
            row[column] = left
        }
    }

    private static func predict(
        _ mode: UInt32, _ columns: Range<Int>, _ row: inout MutableSpan<UInt32>, _ above: Span<UInt32>
    ) {
        switch mode {
        case 1: add(columns, &row) { _, left in left }
        case 2: add(columns, &row) { column, _ in above[column] }
        case 3: add(columns, &row) { column, _ in above[column &+ 1] }
        case 4: add(columns, &row) { column, _ in above[column &- 1] }
        case 5: add(columns, &row) { column, left in mean(mean(left, above[column &+ 1]), above[column]) }
        case 6: add(columns, &row) { column, left in mean(left, above[column &- 1]) }
        case 7: add(columns, &row) { column, left in mean(left, above[column]) }
        case 8: add(columns, &row) { column, _ in mean(above[column &- 1], above[column]) }
        case 9: add(columns, &row) { column, _ in mean(above[column], above[column &+ 1]) }
        case 10:
            add(columns, &row) { column, left in
                mean(mean(left, above[column &- 1]), mean(above[column], above[column &+ 1]))
            }
        case 11: add(columns, &row) { column, left in select(left, above[column], above[column &- 1]) }
        case 12: add(columns, &row) { column, left in gradient(left, above[column], above[column &- 1]) }
        case 13:
            add(columns, &row) { column, left in halfGradient(mean(left, above[column]), above[column &- 1]) }
        // Modes 14 and 15 are not defined; other decoders take them as 0 too.
        default: add(columns, &row) { _, _ in 0xFF00_0000 }
        }
    }

    /// The sum of each channel, modulo 256.
    @inline(__always)
    private static func sum(_ a: UInt32, _ b: UInt32) -> UInt32 {
        ((a & 0xFF00_FF00) &+ (b & 0xFF00_FF00)) & 0xFF00_FF00
            | ((a & 0x00FF_00FF) &+ (b & 0x00FF_00FF)) & 0x00FF_00FF
    }

    /// The mean of each channel, rounded down.
    @inline(__always)
    private static func mean(_ a: UInt32, _ b: UInt32) -> UInt32 {
        ((a ^ b) & 0xFEFE_FEFE) &>> 1 &+ a & b
    }

    /// The one of left and top that is nearer to `left + top - topLeft`, by the sum over the channels.
    @inline(__always)
    private static func select(_ left: UInt32, _ top: UInt32, _ topLeft: UInt32) -> UInt32 {
        var difference: Int32 = 0
        for shift: UInt32 in [0, 8, 16, 24] {
            let corner = level(topLeft, shift)
            difference &+= abs(level(top, shift) &- corner) &- abs(level(left, shift) &- corner)
        }
        return difference >= 0 ? top : left
    }

    /// `left + top - topLeft` for each channel, limited to a byte.
    @inline(__always)
    private static func gradient(_ left: UInt32, _ top: UInt32, _ topLeft: UInt32) -> UInt32 {
        limited(left, top, topLeft) { left, top, topLeft in left &+ top &- topLeft }
    }

    /// `mean + (mean - topLeft) / 2` for each channel, limited to a byte.
    @inline(__always)
    private static func halfGradient(_ mean: UInt32, _ topLeft: UInt32) -> UInt32 {
        limited(mean, mean, topLeft) { mean, _, topLeft in mean &+ (mean &- topLeft) / 2 }
    }

    /// Predicts each channel from three levels, and limits it to a byte. Of equal levels the prediction must be the
    /// level. In alpha and in grey images only green has others.
    @inline(__always)
    private static func limited(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ prediction: (Int32, Int32, Int32) -> Int32
    ) -> UInt32 {
        @inline(__always) func channel(_ shift: UInt32) -> UInt32 {
            let value = prediction(level(a, shift), level(b, shift), level(c, shift))
            return UInt32(min(max(value, 0), 255)) &<< shift
        }
        let others: UInt32 = 0xFFFF_00FF
        if ((a ^ b) | (b ^ c)) & others == 0 { return b & others | channel(8) }
        return channel(0) | channel(8) | channel(16) | channel(24)
    }

    @inline(__always)
    private static func level(_ pixel: UInt32, _ shift: UInt32) -> Int32 { Int32(pixel &>> shift & 0xFF) }
}
