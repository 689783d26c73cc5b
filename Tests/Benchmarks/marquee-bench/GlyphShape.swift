/// The part of a cell's pixels that a character covers, in a terminal that draws blocks and lines itself.
struct GlyphShape {
    static let width = 8
    static let height = 16

    /// The coverage of each pixel, row by row: 0 to 1.
    private(set) var coverage = [Float](repeating: 0, count: width * height)

    /// Nil for a character that is neither a block nor a line.
    init?(_ character: Unicode.Scalar) {
        switch character.value {
        case 0x20: break
        case 0x2580...0x259F: fillBlock(character.value)
        case 0x2571...0x2573: drawDiagonals(character.value)
        case 0x2500...0x257F: drawLines(named: character.properties.name ?? "")
        default: return nil
        }
    }

    private mutating func fill(_ columns: Range<Int>, _ rows: Range<Int>, by amount: Float = 1) {
        for row in rows { for column in columns { coverage[row * Self.width + column] = amount } }
    }

    /// Block Elements, U+2580 to U+259F.
    private mutating func fillBlock(_ value: UInt32) {
        let all = (columns: 0..<Self.width, rows: 0..<Self.height)
        switch value {
        case 0x2580: fill(all.columns, 0..<Self.height / 2)
        case 0x2581...0x2588: fill(all.columns, Self.height - 2 * Int(value - 0x2580)..<Self.height)
        case 0x2589...0x258F: fill(0..<Int(0x2590 - value), all.rows)
        case 0x2590: fill(Self.width / 2..<Self.width, all.rows)
        case 0x2591...0x2593: fill(all.columns, all.rows, by: Float(value - 0x2590) / 4)
        case 0x2594: fill(all.columns, 0..<Self.height / 8)
        case 0x2595: fill(Self.width * 7 / 8..<Self.width, all.rows)
        default:
            // The quadrants, one bit each: upper left, upper right, lower left, lower right.
            let sets = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14]
            for quadrant in 0..<4 where sets[Int(value - 0x2596)] >> quadrant & 1 == 1 {
                let column = quadrant % 2 * Self.width / 2
                let row = quadrant / 2 * Self.height / 2
                fill(column..<column + Self.width / 2, row..<row + Self.height / 2)
            }
        }
    }

    private mutating func drawDiagonals(_ value: UInt32) {
        for row in 0..<Self.height {
            let column = row * Self.width / Self.height
            if value != 0x2571 { fill(column..<column + 1, row..<row + 1) }
            if value != 0x2572 { fill(Self.width - 1 - column..<Self.width - column, row..<row + 1) }
        }
    }

    /// Box Drawing, from the characters' names, such as `BOX DRAWINGS RIGHT HEAVY AND LEFT DOWN LIGHT`: arms from the
    /// middle of the cell, one or two pixels wide. A weight applies to its part between two `AND`s, and to later parts
    /// without one.
    private mutating func drawLines(named name: String) {
        let words = name.split(separator: " ").dropFirst(2)
        let dashes = ["DOUBLE": 2, "TRIPLE": 3, "QUADRUPLE": 4]
        let gaps = words.contains("DASH") ? words.compactMap { dashes[String($0)] }.first : nil
        var isHeavy = false
        for part in words.split(separator: "AND") {
            if part.contains("HEAVY") { isHeavy = true }
            if part.contains("LIGHT") { isHeavy = false }
            for word in part { drawArm(word, isHeavy ? 2 : 1) }
        }
        if let gaps { cutDashes(gaps, isVertical: words.contains("VERTICAL")) }
    }

    private mutating func drawArm(_ direction: Substring, _ weight: Int) {
        let across = (Self.width - 1) / 2..<(Self.width - 1) / 2 + weight
        let down = (Self.height - 1) / 2..<(Self.height - 1) / 2 + weight
        switch direction {
        case "LEFT": fill(0..<across.upperBound, down)
        case "RIGHT": fill(across.lowerBound..<Self.width, down)
        case "UP": fill(across, 0..<down.upperBound)
        case "DOWN": fill(across, down.lowerBound..<Self.height)
        case "HORIZONTAL": fill(0..<Self.width, down)
        case "VERTICAL": fill(across, 0..<Self.height)
        default: break
        }
    }

    /// Removes the last pixel or two of each dash.
    private mutating func cutDashes(_ count: Int, isVertical: Bool) {
        let length = (isVertical ? Self.height : Self.width) / count
        let gap = max(1, length / 3)
        for dash in 1...count {
            let end = dash * length
            isVertical
                ? fill(0..<Self.width, end - gap..<end, by: 0) : fill(end - gap..<end, 0..<Self.height, by: 0)
        }
    }
}
