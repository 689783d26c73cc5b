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
