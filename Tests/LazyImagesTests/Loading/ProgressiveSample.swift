import FoundationEssentials
import TestSupport

/// A progressive poster of the sample catalogue, split after each scan.
struct ProgressiveSample {
    struct NotFound: Error {}

    let bytes: [UInt8]
    /// Each piece ends with the two bytes of the marker that ends its scan; the last piece has the rest.
    let pieces: [Range<Int>]

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        bytes = [UInt8](try Data(contentsOf: root.appending(path: "sample-data/posters/nosferatu.jpg")))
        pieces = try Self.cut(bytes)
    }

    private static func cut(_ bytes: [UInt8]) throws -> [Range<Int>] {
        var cuts = [0]
        var at = 2
        while bytes[at + 1] != 0xD9 {
            let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
            let isScan = bytes[at + 1] == 0xDA
            at += 2 + length
            guard isScan else { continue }
            while bytes[at] != 0xFF || bytes[at + 1] == 0 { at += 1 }
            cuts.append(at + 2)
        }
        guard cuts.count > 8 else { throw NotFound() }
        return zip(cuts, cuts.dropFirst()).map { $0..<$1 }
    }

    /// Comment segments (T.81 B.2.4.5) of `count` bytes in all, at least 4.
    static func comments(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let left = count - bytes.count
            // The rest must be large enough for one more segment.
            let size = left <= 60_000 ? left : 50_000
            bytes += [0xFF, 0xFE, UInt8((size - 2) >> 8), UInt8((size - 2) & 0xFF)]
            bytes += [UInt8](repeating: 0, count: size - 4)
        }
        return bytes
    }

    /// The poster with `count` bytes of comments between its first two scans.
    func padded(by count: Int) -> [UInt8] {
        // The marker belongs to the second scan.
        let cut = pieces[0].upperBound - 2
        return bytes[..<cut] + Self.comments(count) + bytes[cut...]
    }

    /// Sends each piece when its gate opens.
    func script(_ gates: [Gate]) -> [ScriptedOrigin.Step] {
        [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n")]
            + zip(gates, pieces).flatMap { [.wait($0), .sendBytes(Array(bytes[$1]))] }
    }
}
