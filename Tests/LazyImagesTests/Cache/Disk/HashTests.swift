import FoundationEssentials
import Glibc
import Hashing
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("SHA-256 and XXH64", .bounded)
struct HashTests {
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

    @Test("both hashes do not depend on how the bytes are split")
    func piecewise() {
        let bytes = pseudoRandomBytes(count: 300)
        let digest = SHA256.hash(of: bytes.span)
        let checksum = XXH64.hash(of: bytes.span)
        for piece in 1...130 {
            var sha = SHA256()
            var xxh = XXH64()
            for start in stride(from: 0, to: bytes.count, by: piece) {
                let part = bytes.span.extracting(start..<min(start + piece, bytes.count))
                sha.update(part)
                xxh.update(part)
            }
            #expect(sha.finish() == digest)
            #expect(xxh.finish() == checksum)
        }
    }

    @Test(
        "SHA-256 agrees with sha256sum at every length around the end of a block",
        .enabled(if: Shell.has("sha256sum"), "sha256sum is not installed"))
    func systemSHA256() async throws {
        let folder = try TemporaryFolder()
        let lengths = [1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 5000]
        for length in lengths { try write(pseudoRandomBytes(count: length), to: folder.file("\(length)")) }
        for length in lengths {
            let expected = try await output(of: "sha256sum \(folder.file("\(length)"))").prefix(64)
            #expect(SHA256.hash(of: pseudoRandomBytes(count: length).span).hexadecimal == expected)
        }
    }

    @Test(
        "XXH64 agrees with xxhsum at every length around the end of a stripe",
        .enabled(if: Shell.has("xxhsum"), "xxhsum is not installed"))
    func systemXXH64() async throws {
        let folder = try TemporaryFolder()
        for length in [1, 3, 4, 7, 8, 31, 32, 33, 63, 64, 5000] {
            try write(pseudoRandomBytes(count: length), to: folder.file("\(length)"))
            let expected = try await output(of: "xxhsum -H1 \(folder.file("\(length)"))").prefix(16)
            #expect(UInt64(expected, radix: 16) == XXH64.hash(of: pseudoRandomBytes(count: length).span))
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

private func output(of command: String) async throws -> String {
    // Waits for the command on a thread of its own, not on the cooperative pool.
    let output = try await BlockingThreads(count: 1).run { Shell.output(command) }
    try #require(!output.isEmpty)
    return output
}
