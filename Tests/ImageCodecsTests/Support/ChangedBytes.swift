import ImageCodecs
import SystemSupport
import TestTraits
import Testing

/// A stored picture with one changed byte.
enum ChangedBytes {
    /// Expects a picture of the header's size, or an error, whatever the byte.
    /// - Parameters:
    ///   - path: the file among the resources.
    ///   - headerLength: half of the changes are in these first bytes. Default: the whole file.
    static func check(_ path: String, ofHeader headerLength: Int? = nil) throws {
        let original = try Resources.bytes(path)
        // A changed byte may enlarge the picture. The limits keep the test short.
        let limits = DecodingLimits(side: 256, pixels: 4096)
        var random = SeededNumbers(seed: UInt64(original.count))
        for round in 0..<Rounds.count(60, many: 2000) {
            var file = original
            let end = round % 2 == 0 ? headerLength ?? file.count : file.count
            file[Int.random(in: 0..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
            do throws(ImageDecodingError) {
                let bitmap = try ImageDecoders.standard.decode(file, limits: limits)
                #expect(try ImageHeader(parsing: file).size == bitmap.size)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }
}
