import Hashing
import ImageCodecs
import LazyImages
import TestTraits
import Testing

@Suite("PngSuite", .bounded)
struct PngSuiteTests {
    /// A line of `expected.tsv`: file, width, height, SHA-256 of the RGBA pixels; or file, -, -, reject and
    /// the reason.
    struct Verdict: CustomTestStringConvertible {
        let file: String
        let width: Int?
        let height: Int?
        let digest: String
        var testDescription: String { file }
    }

    private func verdicts() throws -> [Verdict] {
        let table = String(decoding: try Resources.bytes("PngSuite/expected.tsv"), as: UTF8.self)
        return table.split(separator: "\n").map { line in
            let fields = line.split(separator: "\t").map(String.init)
            return Verdict(file: fields[0], width: Int(fields[1]), height: Int(fields[2]), digest: fields[3])
        }
    }

    @Test("every file gives exactly the expected pixels, or the expected refusal")
    func everyVerdict() throws {
        let verdicts = try verdicts()
        #expect(verdicts.count == 175)
        for verdict in verdicts {
            let bytes = try Resources.bytes("PngSuite/\(verdict.file)")
            guard let width = verdict.width, let height = verdict.height else {
                #expect(decodingError(bytes) != nil, "\(verdict.file) must be refused")
                continue
            }
            let bitmap = try ImageDecoders.standard.decode(bytes)
            #expect(bitmap.size == ImageSize(width: width, height: height), "\(verdict.file)")
            #expect(SHA256.hash(of: bitmap.pixels.span).hexadecimal == verdict.digest, "\(verdict.file)")
            #expect(try ImageHeader(parsing: bytes).size == bitmap.size, "\(verdict.file)")
        }
    }
}
