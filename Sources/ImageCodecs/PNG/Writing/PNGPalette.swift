/// At most 256 colours for a picture, and which of them each pixel gets.
struct PNGPalette {
    static let most = 256

    /// RGBA.
    private(set) var colours: [SIMD4<UInt8>] = []
    private var indices: [SIMD4<UInt8>: UInt8] = [:]
    /// Of each cell of similar colours its index, where there were too many to have one each.
    private var cellIndices: [UInt8] = []
    private var invisibleIndex: UInt8?

    init(of bitmap: Bitmap) {
        if addOwnColours(of: bitmap) { return }
        colours = []
        indices = [:]
        chooseColours(for: bitmap)
    }

    /// Every row of indices behind the filter number nought, as PNG 12.7 advises for palettes.
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

    private func index(of pixel: SIMD4<UInt8>) -> UInt8 {
        if let index = indices[pixel] { return index }
        if cellIndices.isEmpty { return 0 }
        if !Self.isVisible(pixel), let invisibleIndex { return invisibleIndex }
        return cellIndices[Self.cell(of: pixel)]
    }

    /// False as soon as there are too many.
    private mutating func addOwnColours(of bitmap: Bitmap) -> Bool {
        let pixels = bitmap.pixels.span
        var last: SIMD4<UInt8>?
        for start in stride(from: 0, to: pixels.count, by: 4) {
            let pixel = pixels.vector4(at: start)
            if pixel == last { continue }
            last = pixel
            guard indices[pixel] == nil else { continue }
            guard colours.count < Self.most else { return false }
            indices[pixel] = UInt8(colours.count)
            colours.append(pixel)
        }
        return true
    }

    // MARK: Too many colours

    private static func isVisible(_ pixel: SIMD4<UInt8>) -> Bool { pixel.w > 127 }

    /// Five bits of each of red, green and blue.
    private static func cell(of pixel: SIMD4<UInt8>) -> Int {
        Int(pixel.x >> 3) << 10 | Int(pixel.y >> 3) << 5 | Int(pixel.z >> 3)
    }

    private mutating func chooseColours(for bitmap: Bitmap) {
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
        for group in PaletteCell.grouped(used, of: cells, most: Self.most - colours.count) {
            for index in group { cellIndices[index] = UInt8(colours.count) }
            colours.append(PaletteCell.mean(of: group.map { cells[$0] }))
        }
    }
}

/// The pixels of a picture whose colours are alike, as their number and sum.
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

    /// Cuts a set of cells, given by their indices, into `most` groups or fewer: again and again the one with the most error
    /// is cut where its longest side has half of the pixels on either hand (Heckbert's median cut, 1982, with variance for
    /// the choice).
    static func grouped(_ indices: [Int], of cells: [PaletteCell], most: Int) -> [[Int]] {
        guard !indices.isEmpty else { return [] }
        var groups = [Group(indices, of: cells)]
        while groups.count < most {
            guard let widest = groups.indices.max(by: { groups[$0].error < groups[$1].error }),
                groups[widest].error > 0
            else { break }
            let (low, high) = groups[widest].halves(of: cells)
            groups[widest] = Group(low, of: cells)
            groups.append(Group(high, of: cells))
        }
        return groups.map(\.indices)
    }

    private func level(_ channel: Int) -> Double { Double(sum[channel]) / Double(count) }

    private struct Group {
        let indices: [Int]
        /// The channel whose levels differ most, and the sum of their squared differences from the mean.
        private let channel: Int
        let error: Double

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
            // A single cell cannot be cut.
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
