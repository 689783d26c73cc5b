import FoundationEssentials
import ImageCodecs
import TerminalGraphics
import TestTraits
import Testing

@Suite("Pictures by kitty's and iTerm2's protocols", .bounded)
struct KittyGraphicsTests {
    private let cell = ImageSize(width: 8, height: 16)
    private let room = CellSize(columns: 20, rows: 15)

    /// The keys and the payload of each command.
    private func commands(_ bytes: [UInt8]) -> [(keys: String, payload: String)] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\u{1B}\\").map { command in
            let parts = command.split(separator: ";", maxSplits: 1)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
    }

    @Test("a picture is sent as a PNG of 256 colours in chunks of at most 4096 bytes")
    func transmission() throws {
        let picture = TerminalPicture(Pictures.photograph(160, 240), within: room, cell: cell)
        let commands = commands(KittyGraphics.transmission(of: picture, id: 77))
        #expect(commands.count > 2)
        #expect(commands.first?.keys == "\u{1B}_Ga=t,f=100,i=77,q=2,m=1")
        #expect(commands.dropFirst().dropLast().allSatisfy { $0.keys == "\u{1B}_Gq=2,m=1" })
        #expect(commands.last?.keys == "\u{1B}_Gq=2,m=0")
        #expect(commands.dropLast().allSatisfy { $0.payload.utf8.count == 4096 })
        let payload = commands.map(\.payload).joined()
        let file = [UInt8](try #require(Data(base64Encoded: payload)))
        let shown = try ImageDecoders.standard.decode(file)
        #expect(try #require(shown.peakSignalToNoise(to: picture.bitmap)) > 30)
    }

    @Test("a small picture is one command", arguments: [1, 2, 3])
    func small(size: Int) throws {
        let bitmap = Pictures.bitmap(size, 1) { column, _ in [UInt8(column), 2, 3, 255] }
        let picture = TerminalPicture(
            bitmap, within: CellSize(columns: 1, rows: 1), cell: ImageSize(width: size, height: 1))
        let commands = commands(KittyGraphics.transmission(of: picture, id: 1))
        #expect(commands.map(\.keys) == ["\u{1B}_Ga=t,f=100,i=1,q=2,m=0"])
        let file = [UInt8](try #require(Data(base64Encoded: commands[0].payload)))
        #expect(try ImageDecoders.standard.decode(file) == bitmap)
    }

    @Test("a picture is placed over its cells without moving the cursor, and is deleted by its number")
    func placement() {
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        #expect(
            text(KittyGraphics.placement(of: 7, over: room))
                == "\u{1B}_Ga=p,i=7,p=1,c=20,r=15,C=1,q=2\u{1B}\\")
        #expect(
            text(KittyGraphics.virtualPlacement(of: 7, over: room))
                == "\u{1B}_Ga=p,U=1,i=7,c=20,r=15,q=2\u{1B}\\")
        #expect(text(KittyGraphics.deletion(of: 7)) == "\u{1B}_Ga=d,d=I,i=7,q=2\u{1B}\\")
    }

    @Test("placeholders have their row, their column and the picture's number")
    func placeholders() {
        let id = KittyPlaceholders.id(255 + 41)
        #expect(id == 2 << 24 | 42)
        let grid = KittyPlaceholders.cells(of: id, size: CellSize(columns: 3, rows: 2))
        // Diacritics 0 to 3 of kitty's list.
        let cell = grid.text(at: CellPosition(column: 2, row: 1))
        #expect(cell.unicodeScalars.map(\.value) == [0x10EEEE, 0x30D, 0x30E, 0x30E])
        #expect(grid.style(at: CellPosition(column: 2, row: 1)).foreground == .palette(42))
        let line = String(decoding: InlineEncoder(depth: .indexed256).lines(of: grid), as: UTF8.self)
        #expect(
            line.hasPrefix("\u{1B}[38;5;42m\u{10EEEE}\u{305}\u{305}\u{30E}\u{10EEEE}\u{305}\u{30D}\u{30E}"))
        #expect((0..<KittyPlaceholders.numbers).allSatisfy { KittyPlaceholders.id($0) & 0xFF > 0 })
        #expect(
            Set((0..<KittyPlaceholders.numbers).map(KittyPlaceholders.id)).count == KittyPlaceholders.numbers)
    }

    @Test("there are diacritics for 297 rows and columns, the last of them musical symbols")
    func marks() {
        let size = CellSize(columns: KittyPlaceholders.limit, rows: 1)
        let grid = KittyPlaceholders.cells(of: KittyPlaceholders.id(0), size: size)
        let last = grid.text(at: CellPosition(column: 296, row: 0)).unicodeScalars.map(\.value)
        #expect(last == [0x10EEEE, 0x305, 0x1D244, 0x30D])
        let beyond = KittyPlaceholders.cells(of: 1 << 24 | 1, size: CellSize(columns: 298, rows: 1))
        #expect(beyond.text(at: CellPosition(column: 297, row: 0)) == " ")
    }

    @Test("each command has its own tmux passthrough, with every ESC doubled")
    func passthrough() {
        let commands = Array("\u{1B}_Ga;b\u{1B}\\\u{1B}_Gc\u{1B}\\".utf8)
        #expect(
            String(decoding: TmuxPassthrough.wrapped(commands), as: UTF8.self)
                == "\u{1B}Ptmux;\u{1B}\u{1B}_Ga;b\u{1B}\u{1B}\\\u{1B}\\\u{1B}Ptmux;\u{1B}\u{1B}_Gc\u{1B}\u{1B}\\\u{1B}\\"
        )
    }

    @Test("iTerm2 gets one file for its cells")
    func iterm2() throws {
        let picture = TerminalPicture(Pictures.photograph(160, 240), within: room, cell: cell)
        let text = String(decoding: ITerm2Graphics.drawing(of: picture), as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1)
        let file = [UInt8](try #require(Data(base64Encoded: String(parts[1].dropLast()))))
        #expect(
            parts[0]
                == "\u{1B}]1337;File=inline=1;size=\(file.count);width=20;height=15;preserveAspectRatio=1")
        #expect(text.hasSuffix("\u{07}"))
        let shown = try ImageDecoders.standard.decode(file)
        #expect(try #require(shown.peakSignalToNoise(to: picture.bitmap)) > 30)
    }

    @Test("a picture over several lines starts at the first, and the cursor ends below the last")
    func lines() {
        var grid = CellGrid(size: CellSize(columns: 4, rows: 2))
        grid.put("ab", at: CellPosition(column: 0, row: 1))
        let encoder = InlineEncoder(depth: .none)
        #expect(
            String(decoding: encoder.lines(of: grid, under: Array("X".utf8)), as: UTF8.self)
                == "\nab\n\u{1B}[2A\u{1B}7X\u{1B}8\u{1B}[2B")
        #expect(encoder.lines(of: grid, under: []) == encoder.lines(of: grid))
    }
}
