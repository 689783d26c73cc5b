import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

/// Files without Huffman tables, such as frames of Motion JPEG, use the typical tables (T.81 K.3).
@Suite("JPEG without Huffman tables", .bounded, .ownThread)
struct StandardTablesTests {
    @Test(
        "a file with the standard tables decodes the same without them",
        arguments: ["baseline-444", "restarts"])
    func withoutTables(name: String) throws {
        let file = try Resources.bytes("JPEG/\(name).jpg")
        let bare = JPEGFileEditing.removing(0xC4, from: file)
        #expect(bare.count < file.count - 100)
        #expect(try ImageDecoders.standard.decode(bare) == ImageDecoders.standard.decode(file))
    }

    @Test(
        "without them every sampling gives djpeg's pixels, in one scan and in three",
        .enabled(if: JPEGTools.areInstalled, JPEGTools.absence),
        arguments: ["-grayscale", "-sample 2x2", "-sample 2x1", "-sample 1x1", "-sample 2x2 -restart 1"])
    func likeOthers(options: String) throws {
        let folder = try TemporaryFolder()
        for quality in [5, 60, 100] {
            let encoded = try JPEGTools.file(
                of: TestPicture(width: 75, height: 43), options: "-quality \(quality) \(options)", in: folder)
            let bare = JPEGFileEditing.removing(0xC4, from: try #require(encoded))
            let bitmap = try ImageDecoders.standard.decode(bare)
            let (largest, mean) = try #require(
                bitmap.difference(to: try JPEGTools.decode(bare, in: folder)))
            #expect(bitmap.damage == nil && largest <= 2 && mean <= 0.2, "\(quality): \(largest), \(mean)")
        }
    }

    @Test("a table in the file replaces the standard one")
    func ownTable() throws {
        typealias JPEG = JPEGWriter
        // One grey block. In the standard tables 00 is no difference and 1010 is the end of block.
        let data: [UInt8] = [0b0010_1011]
        let parts = [JPEG.quantisation, JPEG.frame(), JPEG.scan(), data].flatMap(\.self)
        let standard = try ImageDecoders.standard.decode(JPEG.file(parts))
        #expect(standard.damage == nil && standard.pixels[0] == 128)
        // In this DC table 0 is a difference of seven bits, and seven zeros are -127: 15.875 levels.
        let table = JPEG.huffman(0x00, [1: [7]])
        let own = JPEG.file(table + JPEG.quantisation, JPEG.frame(), JPEG.scan(), [0, 0b1010_1111])
        #expect(try ImageDecoders.standard.decode(own).pixels[0] == 112)
    }

    @Test("a progressive file, and one that uses a table without a standard, is refused without its tables")
    func refused() throws {
        let progressive = JPEGFileEditing.removing(
            0xC4, from: try Resources.bytes("JPEG/progressive-420.jpg"))
        #expect(corruptSegment(progressive) == "scan without its tables")
        let second = JPEGWriter.file(
            JPEGWriter.quantisation, JPEGWriter.frame(), JPEGWriter.scan(components: [(1, 0x22)]), [0])
        #expect(corruptSegment(second) == "scan without its tables")
    }
}
