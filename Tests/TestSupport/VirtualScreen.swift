public import ImageCodecs
public import TerminalGraphics

/// A terminal's screen without a terminal. It parses a program's output and keeps the resulting cells, as
/// xterm and similar terminals show them.
///
/// It supports cursor moves, SGR, erasing, scrolling, the alternate screen, modes and wide characters. It
/// lists other sequences in ``unknown``, which a test can require to be empty.
public struct VirtualScreen: Sendable {
    /// One visible cell. The right half of a wide character has no text.
    public struct Cell: Sendable, Hashable {
        /// The character, with its combining marks.
        public var text = " "
        /// Its colours and attributes.
        public var style = CellStyle()
        var isContinuation = false
        /// The pixels that sixels or iTerm2's protocol painted over the cell since it was written.
        var tile: Bitmap?
    }

    /// How a terminal measures the width of text.
    public enum Measure: Sendable {
        /// By scalar, as xterm does.
        case scalars
        /// By grapheme cluster, as kitty does.
        case clusters
    }

    /// Columns and rows.
    public private(set) var size: CellSize
    /// The position of the next character; at a full line it stays on the last column.
    public internal(set) var cursor = CellPosition(column: 0, row: 0)
    /// Private modes (`CSI ? n h`) that are on. At the start 7 (wrap) and 25 (cursor) are.
    public internal(set) var modes: Set<Int> = [7, 25]
    /// Queries to the terminal, whole, in order.
    public internal(set) var queries: [String] = []
    /// Strings to the terminal (OSC, DCS, APC), without their introducer and terminator.
    public internal(set) var strings: [String] = []
    /// Sequences that this screen does not support.
    public internal(set) var unknown: [String] = []
    /// The number of complete frames: how often synchronized output ended.
    public internal(set) var frames = 0

    /// The pictures of kitty's protocol.
    public internal(set) var kitty = KittyPictures()
    /// The number of pictures painted by sixels or iTerm2's protocol.
    public internal(set) var paintings = 0
    /// The pixels of a cell; nil for a terminal without pictures, which only lists their sequences in
    /// ``strings``.
    public let cellPixels: ImageSize?

    var cells: [Cell]
    var style = CellStyle()
    /// Whether the next character wraps first: the cursor is after the last column.
    var wrapsNext = false
    var savedCursor = CellPosition(column: 0, row: 0)
    var lastCharacter: Character = " "
    var parser = ParserState()
    let measure: Measure
    private var mainScreen: [Cell] = []

    /// An empty screen.
    public init(columns: Int, rows: Int, measure: Measure = .scalars, cellPixels: ImageSize? = nil) {
        size = CellSize(columns: columns, rows: rows)
        self.measure = measure
        self.cellPixels = cellPixels
        cells = Array(repeating: Cell(), count: columns * rows)
    }

    /// Whether the alternate screen is shown.
    public var isAlternate: Bool { modes.contains(1049) }

    /// The contents of a cell.
    public func cell(column: Int, row: Int) -> Cell { cells[row * size.columns + column] }

    /// The text of all rows, without trailing spaces.
    public var rows: [String] { (0..<size.rows).map(text(ofRow:)) }

    /// The text of one row, without trailing spaces.
    public func text(ofRow row: Int) -> String {
        let cells = cells[row * size.columns..<(row + 1) * size.columns]
        let end = cells.lastIndex { $0.text != " " }.map { $0 + 1 } ?? cells.startIndex
        return cells[..<end].reduce(into: "") { $0 += $1.text }
    }

    /// The first row that contains a text.
    public func row(containing text: String) -> Int? {
        (0..<size.rows).first { self.text(ofRow: $0).contains(text) }
    }

    /// Resizes the screen. Cells outside the new size are lost.
    public mutating func resize(columns: Int, rows: Int) {
        var next = VirtualScreen(columns: columns, rows: rows)
        for row in 0..<min(rows, size.rows) {
            for column in 0..<min(columns, size.columns) {
                next.cells[row * columns + column] = cell(column: column, row: row)
            }
        }
        size = next.size
        cells = next.cells
        cursor.column = min(cursor.column, columns - 1)
        cursor.row = min(cursor.row, rows - 1)
        wrapsNext = false
    }

    mutating func put(_ scalar: Unicode.Scalar) {
        if measure == .clusters || TerminalText.width(of: Character(scalar)) == 0, joins(scalar) { return }
        let width = TerminalText.width(of: Character(scalar))
        if width == 0 { return }
        if wrapsNext || cursor.column + width > size.columns {
            cursor.column = 0
            lineFeed()
        }
        wrapsNext = false
        blankHalves(cursor.column..<cursor.column + width)
        set(cursor.column, Cell(text: String(scalar), style: style))
        if width == 2 { set(cursor.column + 1, Cell(text: "", style: style, isContinuation: true)) }
        lastCharacter = Character(scalar)
        advance(width)
    }

    /// Adds a scalar to the character before the cursor, if both are one character.
    private mutating func joins(_ scalar: Unicode.Scalar) -> Bool {
        var column = wrapsNext ? cursor.column : cursor.column - 1
        guard column >= 0 else { return false }
        if cell(column: column, row: cursor.row).isContinuation { column -= 1 }
        let index = cursor.row * size.columns + column
        let before = cells[index].text
        let together = before + String(scalar)
        if TerminalText.width(of: Character(scalar)) == 0, measure == .scalars {
            cells[index].text = together
            return true
        }
        guard together.count == before.count else { return false }
        cells[index].text = together
        if TerminalText.width(together) == 2, TerminalText.width(before) == 1, column + 1 < size.columns {
            blankHalves(column + 1..<column + 2)
            set(column + 1, Cell(text: "", style: cells[index].style, isContinuation: true))
            advance(1)
        }
        return true
    }

    private mutating func set(_ column: Int, _ cell: Cell) {
        cells[cursor.row * size.columns + column] = cell
    }

    private mutating func advance(_ width: Int) {
        wrapsNext = cursor.column + width >= size.columns
        cursor.column = min(cursor.column + width, size.columns - 1)
    }

    /// Blanks the halves of wide characters whose other half is about to be overwritten.
    private mutating func blankHalves(_ columns: Range<Int>) {
        let start = cursor.row * size.columns
        if columns.lowerBound < size.columns, cells[start + columns.lowerBound].isContinuation {
            cells[start + columns.lowerBound - 1].text = " "
        }
        if columns.upperBound < size.columns, cells[start + columns.upperBound].isContinuation {
            cells[start + columns.upperBound] = Cell(style: cells[start + columns.upperBound].style)
        }
    }

    mutating func lineFeed() {
        wrapsNext = false
        if cursor.row + 1 < size.rows {
            cursor.row += 1
        } else {
            cells.removeFirst(size.columns)
            cells += Array(repeating: blank, count: size.columns)
        }
    }

    /// An erased cell, with the present background.
    private var blank: Cell { Cell(style: CellStyle(background: style.background)) }

    /// Erases cells, counted along the rows from the top left.
    mutating func erase(_ range: Range<Int>) {
        for index in range.clamped(to: cells.indices) { cells[index] = blank }
    }

    mutating func setMode(_ mode: Int, on: Bool) {
        if mode == 1049, on != isAlternate {
            swap(&cells, &mainScreen)
            if cells.count != size.columns * size.rows {
                cells = Array(repeating: Cell(), count: size.columns * size.rows)
            }
            if on {
                cells = Array(repeating: Cell(), count: size.columns * size.rows)
                savedCursor = cursor
            } else {
                cursor = savedCursor
            }
        }
        if mode == 2026, !on, modes.contains(2026) { frames += 1 }
        if on { modes.insert(mode) } else { modes.remove(mode) }
    }
}
