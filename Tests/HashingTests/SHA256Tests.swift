import FoundationEssentials
import Hashing
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("SHA-256", .bounded)
struct SHA256Tests {
    @Test("the digest does not depend on how the bytes are split")
    func piecewise() {
        let bytes = Self.bytes(300)
        for piece in 1...130 {
            var hash = SHA256()
            for start in stride(from: 0, to: bytes.count, by: piece) {
                hash.update(bytes.span.extracting(start..<min(start + piece, bytes.count)))
            }
            #expect(hash.finish() == SHA256.hash(of: bytes.span))
        }
    }

    @Test(
        "the digest agrees with sha256sum at every length around the end of a block",
        .enabled(if: Shell.has("sha256sum"), "sha256sum is not installed"))
    func system() async throws {
        let folder = try TemporaryFolder()
        for length in [1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 5000] {
            let file = folder.file("\(length)")
            try Data(Self.bytes(length)).write(to: URL(filePath: file))
            // Waits for the command on a thread of its own, not on the cooperative pool.
            let output = try await BlockingThreads(count: 1).run { Shell.output("sha256sum \(file)") }
            #expect(SHA256.hash(of: Self.bytes(length).span).hexadecimal == output.prefix(64))
        }
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        var numbers = SeededNumbers(seed: 1)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
    }
}
