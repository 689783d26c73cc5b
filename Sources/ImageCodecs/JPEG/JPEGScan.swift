/// The scan header (T.81 B.2.3).
///
///     03                components, two bytes each:
///     01 00             identifier, DC table in the upper half, AC table in the lower
///     00 3F 00          first and last coefficient, successive approximation high and low
struct JPEGScan: Equatable {
    struct Component: Equatable {
        /// The component's index in the frame.
        let index: Int
        let dcTable: Int
        let acTable: Int
    }

    let components: [Component]
    /// The spectral selection: the coefficients of the scan, in zigzag order.
    let spectrum: ClosedRange<Int>
    /// The previous scan's bit position for the same coefficients; 0 in their first scan.
    let approximationHigh: Int
    let approximationLow: Int

    init(_ body: Span<UInt8>, frame: JPEGFrame, offset: Int) throws(ImageDecodingError) {
        let corrupt = ImageDecodingError.corrupt(segment: "scan header", offset: offset)
        guard let count = body.byte(at: 0).map(Int.init), (1...4).contains(count), body.count == 4 + 2 * count
        else {
            throw corrupt
        }
        var components: [Component] = []
        for position in 0..<count {
            let identifier = body[1 + 2 * position]
            let tables = body[2 + 2 * position]
            guard let index = frame.components.firstIndex(where: { $0.identifier == identifier }),
                !components.contains(where: { $0.index == index }), tables >> 4 < 4, tables & 15 < 4
            else { throw corrupt }
            components.append(Component(index: index, dcTable: Int(tables >> 4), acTable: Int(tables & 15)))
        }
        self.components = components

        let first = Int(body[1 + 2 * count])
        let last = Int(body[2 + 2 * count])
        approximationHigh = Int(body[3 + 2 * count] >> 4)
        approximationLow = Int(body[3 + 2 * count] & 15)
        guard frame.isProgressive else {
            // Some encoders write other values in a sequential scan, where they have no meaning.
            spectrum = 0...63
            return
        }
        // T.81 G.1.1.1: DC alone for any components, or AC for one component; each refinement adds one bit.
        guard first <= last, last <= 63, first > 0 || last == 0, first == 0 || count == 1,
            approximationLow <= 13, approximationHigh == 0 || approximationHigh == approximationLow + 1
        else { throw corrupt }
        spectrum = first...last
    }

    var isDC: Bool { spectrum.lowerBound == 0 }
    var isRefinement: Bool { approximationHigh > 0 }
}
