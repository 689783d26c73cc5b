import FoundationEssentials
import Glibc
import ImageCodecs
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

/// Our drawings read by independent programs, and compared with theirs.
@Suite("Drawings compared with other programs'", .bounded, .ownThread)
struct InteroperabilityTests {
    private static let posters = ["metropolis.jpg", "laborers-love.png"]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let pictures = MadeOnce<String, TerminalPicture>()
    private static let drawings = MadeOnce<String, [UInt8]>()

    /// A poster in 20 x 15 cells of 8 x 16 pixels.
    private func picture(_ poster: String) throws -> TerminalPicture {
        try Self.pictures.value(for: poster) {
            TerminalPicture(
                try Pictures.poster(poster), within: CellSize(columns: 20, rows: 15),
                cell: ImageSize(width: 8, height: 16), step: SixelGraphics.bandHeight)
        }
    }

    /// That picture as sixels.
    private func sixels(_ poster: String) throws -> [UInt8] {
        try Self.drawings.value(for: poster) { SixelGraphics.drawing(of: try picture(poster)) }
    }

    /// libsixel's rendering of a drawing.
    private func shown(_ sixels: [UInt8]) throws -> Bitmap {
        let (source, result) = (folder.file("a.six"), folder.file("a.png"))
        try Data(sixels).write(to: URL(filePath: source))
        try #require(unsafe system("sixel2png -i \(source) -o \(result) 2>/dev/null") == 0)
        return try ImageDecoders.standard.decode([UInt8](Data(contentsOf: URL(filePath: result))))
    }

    /// chafa's output for a poster. Without a terminal its cells are 8 x 8 pixels.
    private func chafa(_ format: String, _ poster: String, cells: String) throws -> [UInt8] {
        let output = folder.file("chafa")
        let path = Pictures.path(ofPoster: poster)
        try #require(
            unsafe system("chafa -f \(format) -s \(cells) --stretch \(Shell.quoted(path)) >\(output)") == 0)
        return [UInt8](try Data(contentsOf: URL(filePath: output)))
    }

    @Test(
        "libsixel renders the same as the tests' reader, at 35 dB from the picture",
        .enabled(if: Shell.has("sixel2png"), "sixel2png (libsixel-bin) is not installed"), arguments: posters)
    func sixel(poster: String) throws {
        let picture = try picture(poster)
        let drawing = try sixels(poster)
        let seen = try shown(drawing)
        let own = try #require(SixelScreen(drawing)).bitmap
        #expect(try #require(seen.peakSignalToNoise(to: own)) > 50)
        #expect(try #require(seen.peakSignalToNoise(to: picture.bitmap)) > 35)
    }

    @Test(
        "sixels need no more bytes than chafa's, and are nearer to the picture",
        .enabled(if: Shell.has("chafa") && Shell.has("sixel2png"), "chafa or sixel2png is not installed"),
        arguments: posters)
    func besideChafa(poster: String) throws {
        let picture = try picture(poster)
        let drawing = try sixels(poster)
        // The same number of pixels.
        let theirs = try chafa("sixels", poster, cells: "20x30")
        #expect(drawing.count <= theirs.count)
        let start = try #require(
            theirs.indices.dropLast().first { theirs[$0] == 0x1B && theirs[$0 + 1] == 0x50 })
        let quality = try #require(shown(drawing).peakSignalToNoise(to: picture.bitmap))
        #expect(try quality > #require(shown(Array(theirs[start...])).peakSignalToNoise(to: picture.bitmap)))
    }

    @Test(
        "kitty and iTerm2 get at most 0.4 of chafa's bytes, for twice as many pixels",
        .enabled(if: Shell.has("chafa"), "chafa is not installed"), arguments: posters)
    func files(poster: String) throws {
        let picture = try picture(poster)
        let kitty = KittyGraphics.transmission(of: picture, id: 1)
        #expect(Double(kitty.count) <= 0.4 * Double(try chafa("kitty", poster, cells: "20x15").count))
        let iterm2 = ITerm2Graphics.drawing(of: picture)
        #expect(Double(iterm2.count) <= 0.4 * Double(try chafa("iterm", poster, cells: "20x15").count))
    }

    @Test(
        "blocks need no more bytes than chafa's, over all posters",
        .enabled(if: Shell.has("chafa"), "chafa is not installed"))
    func blocks() throws {
        let cells = CellSize(columns: 20, rows: 15)
        var (ours, theirs) = (0, 0)
        for poster in Self.posters {
            let (path, output) = (Pictures.path(ofPoster: poster), folder.file("blocks"))
            try #require(
                unsafe system("chafa -f symbols -c full --stretch -s 20x15 \(Shell.quoted(path)) >\(output)")
                    == 0)
            theirs += try Data(contentsOf: URL(filePath: output)).count
            let grid = BlocksCanvas(depth: .trueColour).draw(try Pictures.poster(poster), size: cells)
            ours += InlineEncoder(depth: .trueColour).lines(of: grid).count
        }
        #expect(ours <= theirs)
    }
}
