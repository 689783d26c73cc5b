/// The minimum coded units of a picture (T.81 A.2.3): one block of each component, or four of luma and one of each colour.
struct JPEGUnits {
    private let layout: JPEGSamples.Layout
    private let size: ImageSize
    private let units: ImageSize
    /// Blocks of luma that have a pixel of the picture.
    private let blocks: ImageSize

    init(of size: ImageSize, as layout: JPEGSamples.Layout) {
        (self.layout, self.size) = (layout, size)
        let side = layout.unitSide
        units = ImageSize(width: (size.width + side - 1) / side, height: (size.height + side - 1) / side)
        blocks = ImageSize(width: (size.width + 7) / 8, height: (size.height + 7) / 8)
    }

    private var blocksOfUnit: Int {
        switch layout {
        case .grey: 1
        case .full: 3
        case .quarter: 6
        }
    }

    /// What is to be written of all units of a picture, of which `read` brings a row of units.
    ///
    /// - Throws: `transparent` if a pixel is not opaque.
    func symbols(
        _ luma: borrowing JPEGQuantiser, _ colour: borrowing JPEGQuantiser,
        _ read: (inout JPEGSamples, _ unitRow: Int) -> Void
    ) throws(ImageEncodingError) -> JPEGSymbols {
        var samples = JPEGSamples(of: size, as: layout)
        let blocksOfRow = units.width * blocksOfUnit
        var symbols = JPEGSymbols(usualBlocks: blocksOfRow * units.height, blocks: blocksOfRow)
        var block = CoefficientBlock(repeating: 0)
        for row in 0..<units.height {
            read(&samples, row)
            guard samples.areOpaque else { throw .transparent }
            symbols.reserve(blocks: blocksOfRow)
            for column in 0..<units.width {
                if layout == .quarter {
                    for part in 0..<4 {
                        let (x, y) = (column &* 2 &+ part & 1, row &* 2 &+ part &>> 1)
                        guard x < blocks.width, y < blocks.height else {
                            symbols.addEmptyBlock(of: 0)
                            continue
                        }
                        let origin = (part &>> 1) &* 8 &* samples.stride &+ x
                        let found = ForwardDCT.transform(
                            samples.luma.span, at: origin, stride: samples.stride, luma, into: &block)
                        symbols.add(block.span, positions: found, of: 0)
                    }
                } else {
                    let found = ForwardDCT.transform(
                        samples.luma.span, at: column, stride: samples.stride, luma, into: &block)
                    symbols.add(block.span, positions: found, of: 0)
                }
                if layout == .grey { continue }
                let blue = ForwardDCT.transform(
                    samples.blue.span, at: column, stride: samples.colourStride, colour, into: &block)
                symbols.add(block.span, positions: blue, of: 1)
                let red = ForwardDCT.transform(
                    samples.red.span, at: column, stride: samples.colourStride, colour, into: &block)
                symbols.add(block.span, positions: red, of: 2)
            }
        }
        return symbols
    }
}
