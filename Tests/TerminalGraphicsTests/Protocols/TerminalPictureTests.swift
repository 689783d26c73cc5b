import ImageCodecs
import TerminalGraphics
import TestTraits
import Testing

@Suite("Pictures fitted into cells", .bounded)
struct TerminalPictureTests {
    private let cell = ImageSize(width: 8, height: 16)
    private let room = CellSize(columns: 20, rows: 15)

    @Test("a poster fills the cells of its proportions, pixel by pixel")
    func poster() {
        let picture = TerminalPicture(Pictures.photograph(300, 450), within: room, cell: cell)
        #expect(picture.cells == room)
        #expect(picture.bitmap.size == ImageSize(width: 160, height: 240))
        #expect(picture.bitmap.isOpaque)
    }

    @Test("half-transparent pixels are blended with the background in kitty and iTerm2 too")
    func blended() throws {
        for way in [PictureProtocol.kitty, .iterm2] {
            let canvas = PixelCanvas(
                way, cell: ImageSize(width: 8, height: 16), blocks: BlocksCanvas(depth: .trueColour),
                background: [0, 100, 0])
            let grid = canvas.draw(
                Pictures.bitmap(8, 16) { _, _ in [255, 255, 255, 64] }, size: CellSize(columns: 1, rows: 1))
            let bytes = try #require(grid.pictures.first).picture.encoded
            #expect(try ImageDecoders.standard.decode(bytes).pixels.prefix(4) == [64, 139, 64, 255])
        }
    }

    @Test("cells that a picture fills only in part are transparent beside it, and it is not distorted")
    func padding() {
        let picture = TerminalPicture(Pictures.photograph(200, 100), within: room, cell: cell)
        // 160 x 80 pixels in 20 x 15 cells: five full rows.
        #expect(picture.cells == CellSize(columns: 20, rows: 5) && picture.bitmap.isOpaque)
        let odd = TerminalPicture(Pictures.photograph(200, 90), within: room, cell: cell)
        #expect(odd.cells == CellSize(columns: 20, rows: 5))
        #expect(odd.bitmap.size == ImageSize(width: 160, height: 80))
        #expect(odd.bitmap.pixel(159, 71).w == 255 && odd.bitmap.pixel(0, 72).w == 0)
    }

    @Test("a small picture is enlarged, and its proportions may be given")
    func enlarged() {
        let tiny = Pictures.bitmap(1, 1) { _, _ in [9, 8, 7, 255] }
        let picture = TerminalPicture(tiny, within: CellSize(columns: 4, rows: 2), cell: cell)
        #expect(picture.bitmap.size == ImageSize(width: 32, height: 32))
        #expect(picture.bitmap.pixel(31, 31) == [9, 8, 7, 255])
        let wide = TerminalPicture(
            tiny, shape: ImageSize(width: 100, height: 1), within: room, cell: cell)
        #expect(wide.cells == CellSize(columns: 20, rows: 1))
        #expect(wide.bitmap.pixel(0, 1).w == 255 && wide.bitmap.pixel(0, 2).w == 0)
    }

    @Test("a picture's height is a multiple of the step", arguments: [13, 16, 19, 20])
    func step(height: Int) {
        let cell = ImageSize(width: 9, height: height)
        let picture = TerminalPicture(
            Pictures.photograph(20, 200), within: CellSize(columns: 40, rows: 5), cell: cell, step: 6)
        let most = 5 * height / 6 * 6
        #expect(picture.bitmap.height == 5 * height)
        #expect(picture.bitmap.pixel(0, most - 1).w == 255)
        #expect(most == 5 * height || picture.bitmap.pixel(0, most).w == 0)
    }
}
