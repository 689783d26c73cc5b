/// A way to part a cell in two: a block character, drawn in the foreground on the background.
///
/// Eighths and quadrants only, which every monospaced font has and terminals draw to the pixel.
/// Of a character and its inverse one is enough: the two colours change places.
struct BlockMask {
    /// Samples along each side of a cell; eighths fall between them.
    static let side = 8
    static let samples = side * side

    let glyph: Unicode.Scalar
    /// The character that covers the other part, where there is one.
    let inverse: Unicode.Scalar?
    /// How many samples the glyph covers.
    let covered: Int
    let shape: Shape

    enum Shape {
        /// The lower rows, that many of 8.
        case lower(Int)
        /// The left columns, that many of 8.
        case left(Int)
        /// Upper left, upper right, lower left, lower right.
        case quadrants([Int])
    }

    private init(_ glyph: Unicode.Scalar, inverse: Unicode.Scalar?, _ shape: Shape) {
        self.glyph = glyph
        self.inverse = inverse
        self.shape = shape
        covered =
            switch shape {
            case .lower(let count), .left(let count): count * Self.side
            case .quadrants(let list): list.count * Self.samples / 4
            }
    }

    /// Whether the glyph covers a sample.
    func covers(column: Int, row: Int) -> Bool {
        switch shape {
        case .lower(let count): row >= Self.side - count
        case .left(let count): column < count
        case .quadrants(let list): list.contains(row / (Self.side / 2) * 2 + column / (Self.side / 2))
        }
    }

    static let all: [BlockMask] = [
        BlockMask("▁", inverse: nil, .lower(1)),
        BlockMask("▂", inverse: nil, .lower(2)),
        BlockMask("▃", inverse: nil, .lower(3)),
        BlockMask("▄", inverse: "▀", .lower(4)),
        BlockMask("▅", inverse: nil, .lower(5)),
        BlockMask("▆", inverse: nil, .lower(6)),
        BlockMask("▇", inverse: "▔", .lower(7)),
        BlockMask("▏", inverse: nil, .left(1)),
        BlockMask("▎", inverse: nil, .left(2)),
        BlockMask("▍", inverse: nil, .left(3)),
        BlockMask("▌", inverse: "▐", .left(4)),
        BlockMask("▋", inverse: nil, .left(5)),
        BlockMask("▊", inverse: nil, .left(6)),
        BlockMask("▉", inverse: "▕", .left(7)),
        BlockMask("▘", inverse: "▟", .quadrants([0])),
        BlockMask("▝", inverse: "▙", .quadrants([1])),
        BlockMask("▖", inverse: "▜", .quadrants([2])),
        BlockMask("▗", inverse: "▛", .quadrants([3])),
        BlockMask("▚", inverse: "▞", .quadrants([0, 3])),
    ]
}
