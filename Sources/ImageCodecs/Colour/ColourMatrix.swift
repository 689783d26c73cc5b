/// A linear change of three channels, with an offset.
struct ColourMatrix {
    /// What each channel adds to the three of the result, and the offset.
    private let columns: [SIMD4<Float>]

    /// - Parameter rows: for each channel of the result, the share of each channel.
    init(_ rows: [[Float]], offset: [Float] = [0, 0, 0]) {
        columns =
            (0..<3).map { SIMD4(rows[0][$0], rows[1][$0], rows[2][$0], 0) } + [
                SIMD4(offset[0], offset[1], offset[2], 0)
            ]
    }

    private init(columns: [SIMD4<Float>]) { self.columns = columns }

    /// XYZ of the white of a connection space, D50 (ICC.1:2022, 7.2.16).
    static let white: [Float] = [0.9642, 1, 0.8249]

    /// From XYZ relative to D50 to linear sRGB: the inverse of sRGB's colorants (IEC 61966-2-1, adapted by Bradford).
    static let linearSRGB = ColourMatrix([
        [3.134_136, -1.617_386, -0.490_662],
        [-0.978_796, 1.916_254, 0.033_442],
        [0.071_955, -0.228_977, 1.405_386],
    ])

    func apply(to value: SIMD4<Float>) -> SIMD4<Float> {
        columns[0] * value.x + columns[1] * value.y + columns[2] * value.z + columns[3]
    }

    /// This change after `first`.
    func after(_ first: ColourMatrix) -> ColourMatrix {
        ColourMatrix(
            columns: first.columns.prefix(3).map { apply(to: $0) - columns[3] } + [
                apply(to: first.columns[3])
            ])
    }

    /// The share of a channel in a channel of the result.
    subscript(row: Int, column: Int) -> Float { columns[column][row] }

    /// From the linear light of three primaries and their white, by their chromaticities x and y, to XYZ relative to D50
    /// (SMPTE RP 177; adapted as ICC.1:2022, annex E, does by Bradford's matrix). Nil for primaries on one line.
    init?(red: SIMD2<Float>, green: SIMD2<Float>, blue: SIMD2<Float>, white: SIMD2<Float>) {
        func xyz(_ place: SIMD2<Float>) -> SIMD4<Float> {
            SIMD4(place.x / place.y, 1, (1 - place.x - place.y) / place.y, 0)
        }
        guard [red, green, blue, white].allSatisfy({ $0.y > 0.0001 }) else { return nil }
        let primaries = ColourMatrix(columns: [xyz(red), xyz(green), xyz(blue), SIMD4()])
        guard let shares = primaries.inverse?.apply(to: xyz(white)) else { return nil }
        let light = ColourMatrix(
            columns: (0..<3).map { primaries.columns[$0] * shares[$0] } + [SIMD4()])
        let cones = ColourMatrix([
            [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
        ])
        guard let back = cones.inverse else { return nil }
        let (from, to) = (
            cones.apply(to: xyz(white)), cones.apply(to: SIMD4(Self.white[0], 1, Self.white[2], 0))
        )
        guard from.x != 0, from.y != 0, from.z != 0 else { return nil }
        let scale = ColourMatrix([[to.x / from.x, 0, 0], [0, to.y / from.y, 0], [0, 0, to.z / from.z]])
        self = back.after(scale.after(cones.after(light)))
    }

    /// The change back, for a matrix without an offset; nil if there is none.
    private var inverse: ColourMatrix? {
        func minor(_ row: Int, _ column: Int) -> Float {
            let (r, s, c, d) = ((row + 1) % 3, (row + 2) % 3, (column + 1) % 3, (column + 2) % 3)
            return self[r, c] * self[s, d] - self[r, d] * self[s, c]
        }
        let determinant = (0..<3).reduce(Float(0)) { $0 + self[0, $1] * minor(0, $1) }
        guard abs(determinant) > 1e-9 else { return nil }
        return ColourMatrix((0..<3).map { row in (0..<3).map { minor($0, row) / determinant } })
    }
}
