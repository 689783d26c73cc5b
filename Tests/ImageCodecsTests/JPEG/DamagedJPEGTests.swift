import ImageCodecs
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("Damaged JPEG beside djpeg", .bounded, .enabled(if: JPEGTools.areInstalled, JPEGTools.absence))
struct DamagedJPEGTests {
    private static let files = [
        "baseline-420", "baseline-444", "grey", "restarts", "progressive-420", "progressive-444-restarts",
    ]

    /// The offsets of the coded data of all scans.
    private func codedData(of file: [UInt8]) -> [Int] {
        var offsets: [Int] = []
        var place = 2
        while place < file.count - 2 {
            let marker = file[place + 1]
            if file[place] == 0xFF, marker != 0, !(0xD0...0xD7).contains(marker) {
                place += 2 + Int(file[place + 2]) << 8 + Int(file[place + 3])
            } else {
                offsets.append(place)
                place += 1
            }
        }
        return offsets
    }

    /// Files with one changed bit in the data of a scan.
    private func flipped(_ name: String, count: Int) throws -> [[UInt8]] {
        let file = try Resources.bytes("JPEG/\(name).jpg")
        let places = codedData(of: file)
        var random = SeededNumbers(seed: UInt64(file.count))
        return (0..<count).map { _ in
            var damaged = file
            damaged[places[Int.random(in: places.indices, using: &random)]] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
            return damaged
        }
    }

    @Test("a file with a flipped bit is shown, and with djpeg's pixels", arguments: files)
    func flippedBits(name: String) throws {
        let folder = try TemporaryFolder()
        let count = Rounds.count(40, many: 1000)
        var (shown, comparable, same) = (0, 0, 0)
        for file in try flipped(name, count: count) {
            guard let bitmap = try? ImageDecoders.standard.decode(file) else { continue }
            shown += 1
            // djpeg refuses some, such as those in which a new marker names a scan without its tables.
            guard let reference = try? JPEGTools.decode(file, in: folder) else { continue }
            comparable += 1
            same += reference.pixels == bitmap.pixels ? 1 : 0
        }
        #expect(shown * 100 >= count * 99 && comparable * 10 >= count * 9)
        #expect(same * 100 >= comparable * 99, "\(same) equal of \(comparable)")
    }

    @Test(
        "a file cut in a scan has djpeg's pixels",
        arguments: ["baseline-420", "baseline-444", "grey", "restarts"])
    func cut(name: String) throws {
        let folder = try TemporaryFolder()
        let file = try Resources.bytes("JPEG/\(name).jpg")
        let places = codedData(of: file)
        for part in 1...9 {
            let count = places[places.count * part / 10]
            let bitmap = try ImageDecoders.standard.decode(Array(file.prefix(count)))
            #expect(bitmap.damage == .truncated(offset: count))
            let reference = try JPEGTools.decode(Array(file.prefix(count)), in: folder)
            #expect(bitmap.pixels == reference.pixels, "\(part) tenths")
        }
    }

    @Test("without its end marker, or with a trailer in its place, a file has every pixel")
    func end() throws {
        let file = try Resources.bytes("JPEG/baseline-420.jpg")
        let whole = try ImageDecoders.standard.decode(file)
        for trailer in [[], Array("SEFH, and a camera's other data".utf8)] {
            let bitmap = try ImageDecoders.standard.decode(file.dropLast(2) + trailer)
            #expect(bitmap.pixels == whole.pixels && bitmap.damage != nil)
        }
    }

    @Test(
        "restart markers that are missing or have a wrong number are passed as libjpeg does", arguments: 0..<8
    )
    func restarts(number: UInt8) throws {
        let folder = try TemporaryFolder()
        let file = try Resources.bytes("JPEG/restarts.jpg")
        let places = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] & 0xF8 == 0xD0 }
        try #require(places.count > 4)
        var renumbered = file
        renumbered[places[3] + 1] = 0xD0 | number
        var shortened = file
        shortened.removeSubrange(places[Int(number) % 3]..<places[Int(number) % 3 + 1])
        for damaged in [renumbered, shortened] {
            let bitmap = try ImageDecoders.standard.decode(damaged)
            #expect(try bitmap.pixels == JPEGTools.decode(damaged, in: folder).pixels)
            #expect((bitmap.damage == nil) == (damaged == file))
        }
    }

    @Test("components with equal identifiers, and a comment of length 0, are read as by libjpeg")
    func oddities() throws {
        let folder = try TemporaryFolder()
        let file = try Resources.bytes("JPEG/baseline-420.jpg")
        let frame = try #require(JPEGFileEditing.frameHeader(of: file))
        let scan = try #require(file.indices.dropLast().first { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        var same = file
        for component in 0..<3 {
            same[frame + 10 + component * 3] = 1
            same[scan + 5 + component * 2] = 1
        }
        for odd in [same, file.prefix(2) + [0xFF, 0xFE, 0, 0] + file.dropFirst(2)] {
            let bitmap = try ImageDecoders.standard.decode(odd)
            #expect(try bitmap.damage == nil && bitmap.pixels == JPEGTools.decode(odd, in: folder).pixels)
        }
    }
}
