/// Kitty's Unicode placeholders: characters that stand for the cells of a picture. They are text, so they move with
/// text, above all in tmux.
///
/// A cell holds U+10EEEE and three combining marks: its row, its column, and the highest byte of the picture's id. The
/// foreground, an entry of the 256-colour palette, is the lowest byte.
package enum KittyPlaceholders {
    /// The most rows and columns, one for each mark.
    package static let limit = 297

    /// The number of different picture ids.
    package static let numbers = 255 * 255

    /// The id for a count, with two nonzero bytes for the placeholders. `count` and `count + numbers` give the same id.
    package static func id(_ count: Int) -> UInt32 {
        UInt32(count / 255 % 255 + 1) << 24 | UInt32(count % 255 + 1)
    }

    /// The cells of a picture with a virtual placement. `id` comes from `id(_:)`. Cells beyond `limit` stay empty.
    package static func cells(of id: UInt32, size: CellSize) -> CellGrid {
        var grid = CellGrid(size: size)
        let style = CellStyle(foreground: .palette(UInt8(truncatingIfNeeded: id)))
        let high = marks[Int(id >> 24)]
        for row in 0..<min(size.rows, limit) {
            for column in 0..<min(size.columns, limit) {
                var cell = "\u{10EEEE}"
                for mark in [marks[row], marks[column], high] { cell.unicodeScalars.append(mark) }
                grid.put(cell, at: CellPosition(column: column, row: row), style: style)
            }
        }
        return grid
    }

    /// The combining marks by number: all of Unicode 6.0 that stand above a letter (class 230, nonspacing) and do not
    /// decompose, in order, without those that normalisation may compose with a letter. Kitty's own list was made like
    /// this.
    static let marks: [Unicode.Scalar] = {
        let joining: Set<UInt32> = [
            0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308, 0x309, 0x30A, 0x30B, 0x30C, 0x30F, 0x311,
            0x313, 0x314, 0x342, 0x653, 0x654,
        ]
        let composed: Set<UInt32> = [0x340, 0x341, 0x343, 0x344]
        return (0x300...0x1D244).compactMap { Unicode.Scalar($0) }.filter { scalar in
            let properties = scalar.properties
            guard properties.canonicalCombiningClass.rawValue == 230,
                properties.generalCategory == .nonspacingMark, let age = properties.age
            else { return false }
            return age <= (6, 0) && !joining.contains(scalar.value) && !composed.contains(scalar.value)
        }
    }()
}
