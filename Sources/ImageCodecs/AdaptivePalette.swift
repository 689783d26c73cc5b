/// A palette of at most 256 colours for a bitmap, and the index of each pixel. A bitmap with few colours keeps its own;
/// otherwise similar colours share their mean, and alpha becomes 0 or 255 (threshold 127).
package struct AdaptivePalette {
    private static let maximumColours = 256

    /// RGBA.
    package private(set) var colours: [SIMD4<UInt8>] = []
    /// Whether every pixel keeps its colour.
    package var isExact: Bool { cellIndices.isEmpty }
    private var indices: [SIMD4<UInt8>: UInt8] = [:]
    /// The palette index of each cell of similar colours, if there are too many colours.
    private var cellIndices: [UInt8] = []
    private var invisibleIndex: UInt8?

    /// Chooses the colours. A bitmap with more than 256 colours (64 if `error` is positive) gets as few as reduce the
    /// mean squared error of a channel to `error`, in squared levels of 255. With 0, the default, it gets 256.
    package init(of bitmap: Bitmap, error: Double = 0) {
        // A grey photograph has fewer than 256 colours, and still fewer suffice.
        if addOwnColours(of: bitmap, most: error > 0 ? 64 : Self.maximumColours) { return }
        colours = []
        indices = [:]
        chooseColours(for: bitmap, error: error)
    }

    /// The rows of indices, each after filter type 0, as PNG 12.7 advises for palettes.
    func rows(of bitmap: Bitmap) -> [UInt8] {
        [UInt8](capacity: bitmap.height * (bitmap.width + 1)) { output in
            let pixels = bitmap.pixels.span
            for row in 0..<bitmap.height {
                output.append(0)
                for column in 0..<bitmap.width {
                    output.append(index(of: pixels.vector4(at: (row * bitmap.width + column) * 4)))
                }
            }
        }
    }

    /// The index of a pixel's colour; the pixel must be in the bitmap.
    package func index(of pixel: SIMD4<UInt8>) -> UInt8 {
        if let index = indices[pixel] { return index }
        if cellIndices.isEmpty { return 0 }
        if !Self.isVisible(pixel), let invisibleIndex { return invisibleIndex }
        return cellIndices[Self.cell(of: pixel)]
    }

    /// Collects the bitmap's own colours; false if there are too many.
    private mutating func addOwnColours(of bitmap: Bitmap, most: Int) -> Bool {
        let pixels = bitmap.pixels.span
        var last: SIMD4<UInt8>?
        for start in stride(from: 0, to: pixels.count, by: 4) {
            let pixel = pixels.vector4(at: start)
            if pixel == last { continue }
            last = pixel
            guard indices[pixel] == nil else { continue }
            guard colours.count < most else { return false }
            indices[pixel] = UInt8(colours.count)
            colours.append(pixel)
        }
        return true
    }

    // MARK: Too many colours

    private static func isVisible(_ pixel: SIMD4<UInt8>) -> Bool { pixel.w > 127 }

    /// The cell of a colour: five bits each of red, green and blue.
    private static func cell(of pixel: SIMD4<UInt8>) -> Int {
        Int(pixel.x >> 3) << 10 | Int(pixel.y >> 3) << 5 | Int(pixel.z >> 3)
    }

    private mutating func chooseColours(for bitmap: Bitmap, error: Double) {
        var cells = [PaletteCell](repeating: PaletteCell(), count: 1 << 15)
        let pixels = bitmap.pixels.span
        var hasInvisible = false
        for start in stride(from: 0, to: pixels.count, by: 4) {
            let pixel = pixels.vector4(at: start)
            if Self.isVisible(pixel) {
                cells[Self.cell(of: pixel)].add(pixel)
            } else {
                hasInvisible = true
            }
        }
        cellIndices = [UInt8](repeating: 0, count: cells.count)
        if hasInvisible {
            invisibleIndex = 0
            colours.append(SIMD4())
        }
        let used = cells.indices.filter { cells[$0].count > 0 }
        let enough = error * 3 * Double(bitmap.width * bitmap.height)
        for group in PaletteCell.grouped(
            used, of: cells, most: Self.maximumColours - colours.count, enough: enough)
        {
            for index in group { cellIndices[index] = UInt8(colours.count) }
            colours.append(PaletteCell.mean(of: group.map { cells[$0] }))
        }
    }
}

/// The number and the sum of similar pixels.
struct PaletteCell {
    private(set) var count = 0
    private var sum = SIMD4<Int>()

    mutating func add(_ pixel: SIMD4<UInt8>) {
        count += 1
        sum &+= SIMD4(Int(pixel.x), Int(pixel.y), Int(pixel.z), 0)
    }

    /// The mean colour of some cells, opaque.
    static func mean(of cells: [PaletteCell]) -> SIMD4<UInt8> {
        let count = max(1, cells.reduce(0) { $0 + $1.count })
        let sum = cells.reduce(SIMD4<Int>()) { $0 &+ $1.sum }
        func level(_ channel: Int) -> UInt8 { UInt8((sum[channel] + count / 2) / count) }
        return SIMD4(level(0), level(1), level(2), 255)
    }

    /// Divides cells, given by their indices, into at most `most` groups: splits the group with the greatest error at
    /// the median of its longest side (Heckbert's median cut, 1982, with variance for the choice), until the sum of
    /// squared errors is at most `enough`.
    static func grouped(_ indices: [Int], of cells: [PaletteCell], most: Int, enough: Double) -> [[Int]] {
        guard !indices.isEmpty else { return [] }
        var groups = [Group(indices, of: cells)]
        var rest = groups[0].sum
        while groups.count < most, rest > enough {
            guard let widest = groups.indices.max(by: { groups[$0].error < groups[$1].error }),
                groups[widest].error > 0
            else { break }
            let (low, high) = groups[widest].halves(of: cells)
            let halves = (Group(low, of: cells), Group(high, of: cells))
            rest += halves.0.sum + halves.1.sum - groups[widest].sum
            groups[widest] = halves.0
            groups.append(halves.1)
        }
        return groups.map(\.indices)
    }

    private func level(_ channel: Int) -> Double { Double(sum[channel]) / Double(count) }

    private struct Group {
        let indices: [Int]
        /// The channel with the greatest squared error, and that error.
        private let channel: Int
        let error: Double
        /// The squared error of all channels.
        let sum: Double

        init(_ indices: [Int], of cells: [PaletteCell]) {
            self.indices = indices
            let count = indices.reduce(0) { $0 + cells[$1].count }
            let errors = (0..<3).map { channel in
                let sum = indices.reduce(0) { $0 + cells[$1].sum[channel] }
                let mean = Double(sum) / Double(count)
                return indices.reduce(0.0) { error, index in
                    let difference = cells[index].level(channel) - mean
                    return error + difference * difference * Double(cells[index].count)
                }
            }
            channel = errors.indices.max { errors[$0] < errors[$1] } ?? 0
            sum = errors.reduce(0, +)
            // A single cell cannot be split.
            error = indices.count > 1 ? errors[channel] : 0
        }

        func halves(of cells: [PaletteCell]) -> ([Int], [Int]) {
            let sorted = indices.sorted { cells[$0].level(channel) < cells[$1].level(channel) }
            let half = indices.reduce(0) { $0 + cells[$1].count } / 2
            var cut = 0
            var count = 0
            while cut < sorted.count - 1, count + cells[sorted[cut]].count <= half || cut == 0 {
                count += cells[sorted[cut]].count
                cut += 1
            }
            return (Array(sorted.prefix(cut)), Array(sorted.dropFirst(cut)))
        }
    }
}
