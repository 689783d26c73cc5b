import FoundationEssentials
import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Entry format", .bounded)
struct EntryFormatTests {
    private let fixture: DiskFixture

    init() throws {
        fixture = try DiskFixture()
        sampleKey = CacheKey(url: try #require(URL(string: "http://a/b")))
    }

    /// The sample of `EntryHeader`'s comment, byte by byte.
    private static let sample: [UInt8] =
        [
            0x89, 0x4d, 0x51, 0x45, 0x0d, 0x0a, 0x1a, 0x0a,
            0x02, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x44, 0x20, 0x69,
            0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9c, 0xb1, 0xba, 0xd3, 0x77, 0x32, 0x22, 0xd7,
        ] + "http://a/bmhello".utf8
    private static let expiry = 0x6920_4400

    /// The same entry as version 1 wrote it.
    private static let older: [UInt8] =
        [
            0x89, 0x4d, 0x51, 0x45, 0x0d, 0x0a, 0x1a, 0x0a,
            0x01, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9a, 0x29, 0x14, 0x4e, 0x42, 0x19, 0xed, 0x75,
        ] + "http://a/bmhello".utf8

    private let sampleKey: CacheKey

    @Test("an entry's file has the bytes of the format's sample")
    func sampleFile() async throws {
        let cache = fixture.cache()
        await cache.put(Array("hello".utf8), metadata: Array("m".utf8), expiry: Self.expiry, for: sampleKey)
        #expect(try fixture.bytes(of: fixture.file(sampleKey)) == Self.sample)
    }

    @Test("a file cut anywhere is a counted miss, and is removed")
    func truncation() async throws {
        let cache = try await cacheWithSample()
        for length in 0..<Self.sample.count {
            try write(Array(Self.sample.prefix(length)), to: fixture.file(sampleKey))
            #expect(cache.body(sampleKey) == nil)
            #expect(fixture.names(in: shard).isEmpty)
            #expect(cache.counters.corrupt == length + 1)
        }
        try write(Self.sample, to: fixture.file(sampleKey))
        #expect(cache.body(sampleKey) == Array("hello".utf8))
    }

    @Test("a file with one flipped bit, or one more byte, is a miss")
    func bitFlips() async throws {
        let cache = try await cacheWithSample()
        for bit in 0..<8 * Self.sample.count {
            var bytes = Self.sample
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            try write(bytes, to: fixture.file(sampleKey))
            #expect(cache.body(sampleKey) == nil, "bit \(bit)")
        }
        try write(Self.sample + [0], to: fixture.file(sampleKey))
        #expect(cache.body(sampleKey) == nil)
    }

    @Test(
        "an entry of the previous version is read; one that claims that version and has an expiry is a miss")
    func olderVersion() async throws {
        let cache = try await cacheWithSample()
        try write(Self.older, to: fixture.file(sampleKey))
        let entry = try #require(await cache.entry(for: sampleKey))
        #expect(entry.body.array == Array("hello".utf8) && entry.expiry == nil)
        var odd = Self.sample
        odd[8] = 1
        #expect(EntryHeader.read(odd.span, fileSize: odd.count) == .corrupt)
    }

    @Test(
        "an expiry, or its absence, is read back as it was stored; a date that the field cannot hold is clamped"
    )
    func expiry() async throws {
        let cache = try await cacheWithSample()
        #expect(await cache.entry(for: sampleKey)?.expiry == Self.expiry)
        for (expiry, stored) in [(nil, nil), (1, 1), (-5, 1), (Int.max, Int(UInt32.max))] as [(Int?, Int?)] {
            await cache.put([1], expiry: expiry, for: key("a"))
            #expect(await fixture.cache().entry(for: key("a"))?.expiry == stored)
        }
    }

    @Test("a poster's entry is a miss when cut at any byte, and for each of ten thousand flipped bits")
    func damagedPoster() throws {
        let body = pseudoRandomBytes(count: 12_000)
        let (text, metadata): ([UInt8], [UInt8]) = ([UInt8(ascii: "k")], [])
        let header = EntryHeader.bytes(key: text.span, metadata: metadata.span, body: body.span, expiry: nil)
        let whole = (0..<40).map { header[$0] } + text + body
        func isGood(_ bytes: Span<UInt8>) -> Bool {
            guard case .valid(let header) = EntryHeader.read(bytes, fileSize: bytes.count) else {
                return false
            }
            return EntryHeader.checksum(ofFile: bytes) == header.checksum
        }
        let isWholeGood = isGood(whole.span)
        #expect(isWholeGood)
        var cutsTaken = 0
        for count in 0..<whole.count where isGood(whole.span.extracting(first: count)) { cutsTaken += 1 }
        #expect(cutsTaken == 0)
        var (bytes, random) = (whole, SeededNumbers(seed: 5))
        for _ in 0..<Rounds.count(1_000, many: 10_000) {
            let (index, bit) = (random.below(bytes.count), UInt8(1) << UInt8(random.below(8)))
            bytes[index] ^= bit
            if isGood(bytes.span) { Issue.record("a flipped bit \(bit) at \(index) was not noticed") }
            bytes[index] ^= bit
        }
    }

    @Test("an entry of a later version is a miss, and lookups, verify and removal leave it alone")
    func newerVersion() async throws {
        let cache = try await cacheWithSample()
        var newer = Self.sample
        newer[8] = 3
        try write(newer, to: fixture.file(sampleKey))
        #expect(cache.body(sampleKey) == nil)
        #expect(await cache.verify().newerEntries == 1)
        #expect(await cache.removeAll { _ in true }.newerEntries == 1)
        #expect(try fixture.bytes(of: fixture.file(sampleKey)) == newer)
        #expect(cache.counters.corrupt == 0)
    }

    @Test("a good entry under another key's name is a miss, because the key is compared")
    func otherKey() async throws {
        let cache = try await cacheWithSample()
        let other = key("other")
        await cache.put([1], for: other)
        try write(Self.sample, to: fixture.file(other))
        #expect(cache.body(other) == nil && cache.counters.corrupt == 1)
    }

    @Test("lengths whose sum overflows are refused")
    func hugeLengths() throws {
        for offset in [12, 16, 24] {
            for fill in [UInt8(0x7f), 0xff] {
                var bytes = Self.sample
                for index in offset..<(offset == 24 ? 32 : offset + 4) { bytes[index] = fill }
                #expect(EntryHeader.read(bytes.span, fileSize: bytes.count) == .corrupt)
            }
        }
        #expect(EntryHeader.fileSize(keyLength: 1, metadataLength: 1, bodyLength: .max) == nil)
        #expect(EntryHeader.fileSize(keyLength: 1 << 32, metadataLength: 1, bodyLength: 1) == nil)
    }

    private var shard: String { String(sampleKey.digest.hexadecimal.prefix(2)) }

    private func cacheWithSample() async throws -> DiskCache {
        let cache = fixture.cache()
        await cache.put(Array("hello".utf8), metadata: Array("m".utf8), expiry: Self.expiry, for: sampleKey)
        return cache
    }
}
