import ImageCodecs
import SystemSupport
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

@Suite("Frames with pictures in pixels", .bounded)
struct PictureFrameTests {
    private static let ways: [PictureProtocol] = [
        .kitty, .kittyPlaceholders(inTmux: false), .kittyPlaceholders(inTmux: true), .iterm2, .sixel,
    ]
    private let cell = ImageSize(width: 4, height: 6)
    private static func keepsPictures(_ way: PictureProtocol) -> Bool { way != .iterm2 && way != .sixel }

    /// A picture and its pixels.
    private struct Subject {
        let grid: CellGrid
        let bitmap: Bitmap
        var picture: Picture? { grid.pictures.first?.picture }
    }

    /// A pattern in colours that sixels have, without transparency, of exactly the picture's pixels.
    private static func subject(
        _ columns: Int, _ rows: Int, way: PictureProtocol, cell: ImageSize, seed: UInt64
    ) -> Subject {
        var random = SeededNumbers(seed: seed)
        let colours = (0..<6).map { _ in
            SIMD4<UInt8>(
                UInt8(51 * random.below(6)), UInt8(51 * random.below(6)), UInt8(51 * random.below(6)), 255)
        }
        let size = CellSize(columns: columns, rows: rows)
        let box = TerminalPicture.box(of: size, cell: cell, step: way == .sixel ? 6 : 1)
        let bitmap = Pictures.bitmap(box.width, box.height) { _, _ in colours[random.below(6)] }
        let canvas = PixelCanvas(way, cell: cell, blocks: BlocksCanvas(depth: .trueColour))
        return Subject(grid: canvas.draw(bitmap, size: size), bitmap: bitmap)
    }

    /// Compares the screen with a grid. At rest every picture must be shown, except in the last row if it is
    /// painted. While the list moves, the shown pictures must be right.
    private func matches(
        _ screen: VirtualScreen, _ grid: CellGrid, _ subjects: [Subject], _ way: PictureProtocol,
        cell: ImageSize, isMoving: Bool
    ) -> Bool {
        for row in 0..<grid.size.rows {
            for column in 0..<grid.size.columns {
                let position = CellPosition(column: column, row: row)
                let placement = grid.pictures.first { $0.visible.contains(position) }
                let seen = screen.tile(column: column, row: row)
                let isLastRow = !Self.keepsPictures(way) && row == grid.size.rows - 1
                if let placement, !isLastRow, seen != nil || Self.keepsPictures(way) || !isMoving {
                    let subject = subjects.first { $0.picture === placement.picture }
                    guard let subject,
                        shows(seen, subject, placement, position, way, cell, rows: grid.size.rows)
                    else {
                        Issue.record(
                            "\(way) column \(column) row \(row): \(seen == nil ? "no" : "another") picture")
                        return false
                    }
                    continue
                }
                let text = screen.cell(column: column, row: row).text
                if seen != nil || text != grid.text(at: position) {
                    let extra = seen == nil ? "" : "a picture over "
                    Issue.record(
                        "\(way) column \(column) row \(row): \(extra)\(text), not \(grid.text(at: position))")
                    return false
                }
            }
        }
        if !screen.unknown.isEmpty { Issue.record("\(way): \(screen.unknown)") }
        return screen.unknown.isEmpty
    }

    private func shows(
        _ seen: Bitmap?, _ subject: Subject, _ placement: PicturePlacement, _ position: CellPosition,
        _ way: PictureProtocol, _ cell: ImageSize, rows: Int
    ) -> Bool {
        let (across, down) = (
            position.column - placement.origin.column, position.row - placement.origin.row
        )
        let wanted = subject.bitmap.tile(across * cell.width, down * cell.height, cell)
        // Sixels are drawn in whole bands.
        let top = (position.row - placement.visible.rows.lowerBound) * cell.height
        let first = placement.part.rows.lowerBound * cell.height
        // Nothing is painted in the last row.
        let lastRow = min(placement.visible.rows.upperBound, rows - 1) - placement.origin.row
        let last = min(subject.bitmap.height, lastRow * cell.height)
        let end = (last - first) / 6 * 6 - top
        guard let seen else { return way == .sixel && end <= 0 }
        for index in wanted.pixels.indices {
            let isBelowBands = way == .sixel && index / 4 / cell.width >= end
            let difference = abs(Int(seen.pixels[index]) - Int(wanted.pixels[index]))
            if difference > (way == .sixel ? 2 : 0), !(isBelowBands && seen.pixels[index / 4 * 4 + 3] == 0) {
                return false
            }
        }
        return true
    }

    @Test(
        "the terminal shows the right pictures after any other screen, and none of the earlier ones",
        arguments: ways, [6, 7])
    func randomFrames(way: PictureProtocol, cellHeight: Int) {
        let cell = ImageSize(width: 4, height: cellHeight)
        var random = SeededNumbers(seed: 11)
        let subjects = (0..<6).map {
            Self.subject(2 + $0 % 3 * 2, 2 + $0 % 4, way: way, cell: cell, seed: UInt64($0))
        }
        var encoder = FrameEncoder(depth: .trueColour, pictures: way)
        var screen = VirtualScreen(columns: 24, rows: 9, cellPixels: cell)
        for frame in 0..<Rounds.count(24, many: 40) {
            if frame % 16 == 15 { screen.resize(columns: 20 + random.below(6), rows: 8 + random.below(3)) }
            if frame % 16 == 15 || frame % 23 == 22 { encoder.invalidate() }
            var grid = CellGrid(size: screen.size)
            let clip = CellRectangle(
                at: CellPosition(column: 0, row: random.below(2)),
                size: CellSize(columns: screen.size.columns, rows: screen.size.rows - random.below(2)))
            for row in 0..<grid.size.rows {
                grid.put("row \(row) \(frame / 4)", at: CellPosition(column: 0, row: row))
            }
            for number in 0..<random.below(5) {
                let position = CellPosition(
                    column: number * 6 - random.below(2), row: random.below(11) - 3)
                grid.place(subjects[random.below(6)].grid, at: position, clip: clip)
            }
            if frame % 3 == 0 {
                grid.put("over", at: CellPosition(column: random.below(20), row: random.below(8)))
            }
            let isMoving = random.below(3) == 0
            screen.feed(encoder.frame(grid, isMoving: isMoving))
            while encoder.isUnfinished { screen.feed(encoder.frame(grid, isMoving: isMoving)) }
            if !matches(screen, grid, subjects, way, cell: cell, isMoving: isMoving) { return }
            #expect(encoder.frame(grid, isMoving: isMoving).isEmpty)
        }
        screen.feed(encoder.cleanup)
        #expect(screen.kitty.pictures.isEmpty && screen.kitty.strangers.isEmpty)
    }

    /// A column of pictures, starting at this line.
    private func column(_ subjects: [Subject], from line: Int) -> CellGrid {
        var grid = CellGrid(size: CellSize(columns: 12, rows: 9))
        let body = CellRectangle(
            at: CellPosition(column: 0, row: 1), size: CellSize(columns: 12, rows: 7))
        for (index, subject) in subjects.enumerated() {
            grid.place(subject.grid, at: CellPosition(column: 1, row: 1 + index * 4 - line), clip: body)
        }
        return grid
    }

    @Test("scrolling with kitty's protocol sends each picture once", arguments: ways.prefix(3))
    func once(way: PictureProtocol) {
        let subjects = (0..<20).map { Self.subject(4, 3, way: way, cell: cell, seed: UInt64($0)) }
        var encoder = FrameEncoder(depth: .trueColour, pictures: way)
        var screen = VirtualScreen(columns: 12, rows: 9, cellPixels: cell)
        for line in Array(0..<74) + (0..<74).reversed() {
            screen.feed(encoder.frame(column(subjects, from: line), isMoving: true))
        }
        #expect(screen.kitty.transmissions == 20 && screen.kitty.repeated == 0)
        #expect(screen.unknown.isEmpty)
    }

    @Test("painted pictures are not sent while they move, and a picture that stays is not sent again")
    func painted() {
        for way in [PictureProtocol.iterm2, .sixel] {
            let subjects = (0..<3).map { Self.subject(4, 3, way: way, cell: cell, seed: UInt64($0)) }
            var encoder = FrameEncoder(depth: .trueColour, pictures: way)
            var screen = VirtualScreen(columns: 12, rows: 9, cellPixels: cell)
            for line in 0..<4 { screen.feed(encoder.frame(column(subjects, from: line), isMoving: true)) }
            #expect(screen.strings.isEmpty)
            var grid = column(subjects, from: 4)
            screen.feed(encoder.frame(grid, isMoving: false))
            #expect(screen.strings.count == 2)
            grid.put("another", at: CellPosition(column: 0, row: 8))
            screen.feed(encoder.frame(grid, isMoving: false))
            screen.feed(encoder.frame(grid, isMoving: true))
            #expect(screen.strings.count == 2)
            #expect(screen.tile(column: 1, row: 1) != nil)
        }
    }

    @Test("a terminal that keeps pictures below text is told to delete each that goes, and no other")
    func deleted() {
        let deletion = "\u{1B}_Ga=d,d=c,q=2\u{1B}\\"
        for way in [PictureProtocol.iterm2, .sixel] {
            let subjects = (0..<2).map { Self.subject(4, 3, way: way, cell: cell, seed: UInt64($0)) }
            var encoder = FrameEncoder(depth: .trueColour, pictures: way, keepsPictures: true)
            func text(_ grid: CellGrid) -> String { String(decoding: encoder.frame(grid), as: UTF8.self) }
            #expect(!text(column(subjects, from: 0)).contains(deletion))
            // The second picture stands at the sixth row, the first at the second.
            let one = text(column([subjects[0]], from: 0))
            #expect(one.contains("\u{1B}[6;2H" + deletion) && !one.contains("\u{1B}[2;2H" + deletion))
            let other = text(column([subjects[1]], from: 0))
            let drawing = way == .sixel ? "\u{1B}P" : "\u{1B}]1337"
            #expect(other.contains("\u{1B}[2;2H" + deletion + "\u{1B}[2;2H" + drawing))
            #expect(text(column([], from: 0)).contains("\u{1B}[2;2H" + deletion))
        }
    }

    @Test("a picture that replaces another is painted over it, without writing cells between")
    func replaced() {
        for way in [PictureProtocol.iterm2, .sixel] {
            let subjects = (0..<2).map { Self.subject(4, 3, way: way, cell: cell, seed: UInt64($0)) }
            var encoder = FrameEncoder(depth: .trueColour, pictures: way)
            _ = encoder.frame(column([subjects[0]], from: 0))
            let text = String(decoding: encoder.frame(column([subjects[1]], from: 0)), as: UTF8.self)
            #expect(text.hasPrefix("\u{1B}[?2026h\u{1B}[2;2H\u{1B}"))
            #expect(!text.contains("\u{1B}[38;2;") && !text.contains("m "))
        }
    }

    @Test("a sixel's last row without a whole band shows blocks, also when the sixel replaces another")
    func replacedFoot() {
        let cell = ImageSize(width: 4, height: 7)
        let subjects = (0..<2).map { Self.subject(4, 3, way: .sixel, cell: cell, seed: UInt64($0)) }
        var encoder = FrameEncoder(depth: .trueColour, pictures: .sixel)
        _ = encoder.frame(column([subjects[0]], from: 0))
        let text = String(decoding: encoder.frame(column([subjects[1]], from: 0)), as: UTF8.self)
        // The last of the picture's three rows is written, then the picture.
        #expect(text.hasPrefix("\u{1B}[?2026h\u{1B}[4;2H") && text.contains("\u{1B}[38;2;"))
        #expect(text.contains("\u{1B}[2;2H\u{1B}P"))
    }

    @Test("many pictures are sent over several frames")
    func limit() {
        let cell = ImageSize(width: 8, height: 60)
        for way in Self.ways {
            let subjects = (0..<3).map { Self.subject(12, 3, way: way, cell: cell, seed: UInt64($0)) }
            var encoder = FrameEncoder(depth: .trueColour, pictures: way)
            let canvas = PixelCanvas(way, cell: cell, blocks: BlocksCanvas(depth: .trueColour))
            var grid = CellGrid(size: CellSize(columns: 60, rows: 40))
            for number in 0..<12 {
                let subject = subjects[number % 3]
                let position = CellPosition(column: number % 4 * 13, row: number / 4 * 4)
                // A terminal that keeps pictures would get each only once.
                grid.place(
                    Self.keepsPictures(way)
                        ? canvas.draw(subject.bitmap, size: subject.grid.size) : subject.grid, at: position)
            }
            var sizes: [Int] = []
            repeat { sizes.append(encoder.frame(grid).count) } while encoder.isUnfinished
            #expect(sizes.count > 1, "\(way) \(sizes)")
            #expect(sizes.allSatisfy { $0 < 160 << 10 }, "\(way) \(sizes)")
            #expect(encoder.frame(grid).isEmpty)
        }
    }

    @Test("the terminal stores no more than the budget, and all that it shows", arguments: [3, 600])
    func budget(most: Int) {
        let cost = 2 * 1 * 4 * 6 * 4
        var layer = KittyLayer(placeholders: false, inTmux: false, memoryLimit: most * cost)
        var screen = VirtualScreen(columns: 12, rows: 9, cellPixels: cell)
        var shown = CellGrid(size: screen.size)
        var mostPictures = 0
        let subject = Self.subject(2, 1, way: .kitty, cell: cell, seed: 1)
        let canvas = PixelCanvas(.kitty, cell: cell, blocks: BlocksCanvas(depth: .trueColour))
        for _ in 0..<(most + 10) {
            var next = CellGrid(size: screen.size)
            next.place(
                canvas.draw(subject.bitmap, size: subject.grid.size), at: CellPosition(column: 1, row: 1))
            let change = layer.change(&next, over: shown, isMoving: false)
            screen.feed(change.before + change.after)
            shown = next
            mostPictures = max(mostPictures, screen.kitty.pictures.count)
            #expect(screen.tile(column: 2, row: 1) != nil)
        }
        #expect(mostPictures == min(most, KittyLayer.pictureLimit))
        #expect(layer.cleanup.count < 30_000)
        screen.feed(layer.cleanup)
        #expect(screen.kitty.pictures.isEmpty && screen.kitty.strangers.isEmpty)
    }

    @Test("a grid's pictures are clipped by what is put over them")
    func cut() {
        let picture = Self.subject(6, 5, way: .kitty, cell: cell, seed: 1)
        var grid = CellGrid(size: CellSize(columns: 10, rows: 8))
        grid.place(picture.grid, at: CellPosition(column: 2, row: 1))
        grid.put("★ 8.1", at: CellPosition(column: 2, row: 5))
        #expect(grid.pictures.map(\.part) == [CellRectangle(size: CellSize(columns: 6, rows: 4))])
        for row in 0..<8 { grid.put("│", at: CellPosition(column: 2, row: row)) }
        #expect(grid.pictures.map(\.visible.origin) == [CellPosition(column: 3, row: 1)])
        #expect(grid.pictures.map(\.visible.size) == [CellSize(columns: 5, rows: 4)])
        grid.fill(grid.bounds, style: CellStyle())
        #expect(grid.pictures.isEmpty)
        grid.place(picture.grid, at: CellPosition(column: 8, row: -3))
        #expect(grid.pictures.map(\.visible.size) == [CellSize(columns: 2, rows: 2)])
        #expect(grid.pictures.map(\.part.origin) == [CellPosition(column: 0, row: 3)])
    }
}
