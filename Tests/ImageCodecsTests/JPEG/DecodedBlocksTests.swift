import TestTraits
import Testing

@testable import ImageCodecs

/// A picture is complete if the blocks of its rows were decoded, however a scan ended.
@Suite("Decoded JPEG blocks", .bounded)
struct DecodedBlocksTests {
    private let frame: JPEGFrame
    private let scale: JPEGScale

    /// 37 x 35 pixels: luma of 5 x 5 blocks in units of 2 x 2, chroma of 3 x 3.
    init() throws {
        let components = [(1, 0x22), (2, 0x11), (3, 0x11)].map { identifier, sampling in
            JPEGWriter.Component(identifier: UInt8(identifier), sampling: UInt8(sampling))
        }
        let header = JPEGWriter.frame(width: 37, height: 35, components: components)
        var segments = JPEGSegments(offset: 0)
        frame = try JPEGFrame(try segments.next(in: header.span), of: header.span)
        scale = JPEGScale(frame, target: nil)
    }

    private func rows(_ planes: JPEGPlanes) -> JPEGRows {
        JPEGRows(
            frame, scale: scale, colour: .yCbCr, planes: planes.planes,
            layout: PictureLayout(whole: frame.size))
    }

    /// Whether a picture is complete after this many columns of blocks were decoded in each row of units.
    private func isComplete(_ columns: (_ component: Int, _ unitRow: Int) -> Int) throws -> Bool {
        var planes = JPEGPlanes(frame, scale: scale, isWindow: true)
        var rows = rows(planes)
        for row in 0..<frame.unitRows {
            for (index, component) in frame.components.enumerated() {
                let height = component.verticalFactor
                planes.countDecoded(
                    index, rows: row * height..<(row + 1) * height, columns: columns(index, row))
            }
            try rows.add(upToUnitRow: row, of: planes)
        }
        return rows.finish(isWhole: true).isComplete
    }

    @Test("a picture is complete once all its blocks are decoded; blocks past its edge do not count")
    func all() throws {
        #expect(try isComplete { component, _ in component == 0 ? 6 : 3 })
        #expect(try isComplete { component, _ in component == 0 ? 5 : 3 })
    }

    @Test("rows that were output before their blocks are incomplete, also if the blocks follow")
    func tooEarly() throws {
        var planes = JPEGPlanes(frame, scale: scale, isWindow: false)
        var early = rows(planes)
        for row in 0..<frame.unitRows {
            // Treats a row of units as one row of blocks.
            for index in 0..<3 { planes.countDecoded(index, rows: row..<row + 1, columns: 6) }
            try early.add(upToUnitRow: row, of: planes)
        }
        for index in 0..<3 { planes.countDecoded(index, rows: frame.unitRows..<5, columns: 6) }
        #expect(!early.finish(isWhole: true).isComplete)
        var rows = rows(planes)
        try rows.add(upToUnitRow: frame.unitRows - 1, of: planes)
        #expect(rows.finish(isWhole: true).isComplete)
    }

    @Test("rows that were never output make it incomplete")
    func unfinished() throws {
        var planes = JPEGPlanes(frame, scale: scale, isWindow: false)
        for index in 0..<3 { planes.countDecoded(index, rows: 0..<6, columns: 6) }
        var some = rows(planes)
        try some.add(upToUnitRow: 1, of: planes)
        #expect(!some.finish(isWhole: true).isComplete)
    }
}
