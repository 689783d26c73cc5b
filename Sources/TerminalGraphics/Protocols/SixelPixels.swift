/// Pixels quantised to sixel colours. They can be read back from our own drawings, to draw a part without quantising
/// again.
struct SixelPixels {
    /// The index of a transparent pixel.
    static let clear = UInt16.max

    /// Red, green and blue, 0 to 100.
    private(set) var colours: [SIMD3<Int>]
    /// The colour index of each pixel, row by row.
    private(set) var indices: [UInt16]
    let width: Int
    let height: Int

    init(colours: [SIMD3<Int>], indices: [UInt16], width: Int, height: Int) {
        self.colours = colours
        self.indices = indices
        self.width = width
        self.height = height
    }

    /// Reads a drawing of `SixelGraphics`: `ESC P 7;1;q "1;1;W;H`, colours, bands, `ESC \`.
    init(reading drawing: [UInt8]) {
        var reader = SixelReader(drawing)
        let size = reader.numbers(after: UInt8(ascii: "\"")).suffix(2)
        width = size.first ?? 0
        height = size.last ?? 0
        colours = []
        indices = Array(repeating: Self.clear, count: width * height)
        var (colour, column, band) = (0, 0, 0)
        while let byte = reader.next() {
            switch byte {
            case UInt8(ascii: "#"):
                let numbers = reader.numbers()
                colour = numbers[0]
                if numbers.count == 5 { colours.append(SIMD3(numbers[2], numbers[3], numbers[4])) }
            case UInt8(ascii: "$"): column = 0
            case UInt8(ascii: "-"): (column, band) = (0, band + 1)
            case UInt8(ascii: "!"):
                let count = reader.numbers()[0]
                draw(reader.next(), times: count, colour, &column, band)
            default: draw(byte, times: 1, colour, &column, band)
            }
        }
    }

    private mutating func draw(
        _ character: UInt8?, times count: Int, _ colour: Int, _ column: inout Int, _ band: Int
    ) {
        defer { column += count }
        guard let character, case let bits = character &- UInt8(ascii: "?"), bits < 64 else { return }
        for line in 0..<SixelGraphics.bandHeight where bits >> UInt8(line) & 1 == 1 {
            let start = (band * SixelGraphics.bandHeight + line) * width + column
            for place in start..<start + count { indices[place] = UInt16(colour) }
        }
    }

    /// A part, clipped to whole bands, with only the colours it uses.
    func part(_ part: CellRectangle, cellWidth: Int, cellHeight: Int) -> SixelPixels {
        let first = part.rows.lowerBound * cellHeight
        let last = min(height, part.rows.upperBound * cellHeight)
        let rows = max(0, last - first) / SixelGraphics.bandHeight * SixelGraphics.bandHeight
        let columns = part.columns.lowerBound * cellWidth..<part.columns.upperBound * cellWidth
        var own: [SIMD3<Int>] = []
        var numbers = [UInt16](repeating: Self.clear, count: colours.count)
        var pixels: [UInt16] = []
        pixels.reserveCapacity(rows * columns.count)
        for row in first..<first + rows {
            for index in indices[row * width + columns.lowerBound..<row * width + columns.upperBound] {
                guard index != Self.clear else {
                    pixels.append(Self.clear)
                    continue
                }
                if numbers[Int(index)] == Self.clear {
                    numbers[Int(index)] = UInt16(own.count)
                    own.append(colours[Int(index)])
                }
                pixels.append(numbers[Int(index)])
            }
        }
        return SixelPixels(colours: own, indices: pixels, width: columns.count, height: rows)
    }
}

/// Reads the bytes of a drawing.
private struct SixelReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next byte; nil at the end of the drawing.
    mutating func next() -> UInt8? {
        guard position < bytes.count, bytes[position] != 0x1B else { return nil }
        position += 1
        return bytes[position - 1]
    }

    /// Reads `1;2;3`; at least one number.
    mutating func numbers() -> [Int] {
        var numbers = [0]
        while position < bytes.count {
            switch bytes[position] {
            case let digit where (0x30...0x39).contains(digit):
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(digit - 0x30)
            case UInt8(ascii: ";"): numbers.append(0)
            default: return numbers
            }
            position += 1
        }
        return numbers
    }

    /// Skips to after a character and reads the numbers there.
    mutating func numbers(after character: UInt8) -> [Int] {
        while position < bytes.count, bytes[position] != character { position += 1 }
        position += 1
        return numbers()
    }
}
