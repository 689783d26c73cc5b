/// The MCUs of an image (T.81 A.2.3): one block of each component, or four of luma and one each of Cb and Cr.
struct JPEGUnits {
    private let layout: JPEGSamples.Layout
    private let size: ImageSize
    private let units: ImageSize
    /// The luma blocks with pixels of the image.
    private let blocks: ImageSize

    init(of size: ImageSize, as layout: JPEGSamples.Layout) {
        (self.layout, self.size) = (layout, size)
        let side = layout.unitSide
        units = ImageSize(width: (size.width + side - 1) / side, height: (size.height + side - 1) / side)
        blocks = ImageSize(width: (size.width + 7) / 8, height: (size.height + 7) / 8)
    }

    /// The component of each block of an MCU.
    private var components: [Int] {
        switch layout {
        case .grey: [0]
        case .full: [0, 1, 2]
        case .quarter: [0, 0, 0, 0, 1, 2]
        }
    }

    /// The symbols of all MCUs. `read` provides one row of MCUs after another.
    /// - Throws: `transparent` if a pixel is not opaque.
    func symbols(
        _ luma: borrowing JPEGQuantiser, _ colour: borrowing JPEGQuantiser,
        _ read: (inout JPEGSamples, _ unitRow: Int) -> Void
    ) throws(ImageEncodingError) -> JPEGSymbols {
        var samples = JPEGSamples(of: size, as: layout)
        let components = components
        let lumaBlocks = layout == .quarter ? 4 : 1
        var symbols = JPEGSymbols(blocks: units.width * units.height * components.count)
        for row in 0..<units.height {
            read(&samples, row)
            guard samples.areOpaque else { throw .transparent }
            symbols.addRow(units: units.width, components: components) { unit, part, block in
                if part == lumaBlocks {
                    return ForwardDCT.transform(samples.blue.span, at: unit &* 8, colour, into: &block)
                }
                if part > lumaBlocks {
                    return ForwardDCT.transform(samples.red.span, at: unit &* 8, colour, into: &block)
                }
                if lumaBlocks == 4 {
                    // MCUs at the edges may have blocks outside the image.
                    let (x, y) = (unit &* 2 &+ part & 1, row &* 2 &+ part &>> 1)
                    guard x < blocks.width, y < blocks.height else { return nil }
                }
                return ForwardDCT.transform(
                    samples.luma.span, at: (unit &* lumaBlocks &+ part) &* 8, luma, into: &block)
            }
        }
        return symbols
    }
}
