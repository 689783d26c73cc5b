import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("XXH64", .bounded)
struct XXH64Tests {
    @Test("XXH64 agrees with its author's published values for the lengths of every branch")
    func xxh64Vectors() {
        // The author's test data: bytes from a generator that squares its state.
        var generator: UInt32 = 2_654_435_761
        let bytes = (0..<101).map { _ in
            defer { generator = generator &* generator }
            return UInt8(generator >> 24)
        }
        let expected: [Int: UInt64] = [
            0: 0xef46_db37_51d8_e999, 1: 0x4fce_394c_c889_52d8,
            14: 0xcffa_8db8_81bc_3a3d, 101: 0x0eab_5433_84f8_78ad,
        ]
        for (count, hash) in expected { #expect(XXH64.hash(of: bytes.span.extracting(first: count)) == hash) }
    }

    @Test("the hash does not depend on how the bytes are split")
    func piecewise() {
        let bytes = pseudoRandomBytes(count: 300)
        for piece in 1...130 {
            var hash = XXH64()
            for start in stride(from: 0, to: bytes.count, by: piece) {
                hash.update(bytes.span.extracting(start..<min(start + piece, bytes.count)))
            }
            #expect(hash.finish() == XXH64.hash(of: bytes.span))
        }
    }

    @Test(
        "XXH64 agrees with xxhsum at every length around the end of a stripe",
        .enabled(if: Shell.has("xxhsum"), "xxhsum is not installed"))
    func systemXXH64() async throws {
        let folder = try TemporaryFolder()
        for length in [1, 3, 4, 7, 8, 31, 32, 33, 63, 64, 5000] {
            try write(pseudoRandomBytes(count: length), to: folder.file("\(length)"))
            let command = "xxhsum -H1 \(folder.file("\(length)"))"
            // Waits for the command on a thread of its own, not on the cooperative pool.
            let output = try await BlockingThreads(count: 1).run { Shell.output(command) }
            #expect(
                UInt64(output.prefix(16), radix: 16) == XXH64.hash(of: pseudoRandomBytes(count: length).span))
        }
    }
}

/// Bytes with a long period, the same in every run.
func pseudoRandomBytes(count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
}

func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }
