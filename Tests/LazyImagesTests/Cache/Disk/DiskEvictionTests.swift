import FoundationEssentials
import Glibc
import SystemSupport
import TestTraits
import Testing

import LazyImages

@Suite("Disk eviction", .bounded)
struct DiskEvictionTests {
    private let fixture: DiskFixture
    /// An entry of about a thousand bytes, with header and key.
    private let bytes = pseudoRandomBytes(count: 930)

    init() throws { fixture = try DiskFixture() }

    @Test(
        "the cache stays within its limit throughout a long run, not only when it is opened",
        arguments: [20_000, 0])
    func longRun(largeCount: Int) async throws {
        let cache = fixture.cache(limit: 50_000, largeCount: largeCount)
        let bytes = pseudoRandomBytes(count: 1_000)
        for number in 0..<250 {
            await cache.store(Array(bytes.prefix(700 + number % 300)), for: key("\(number)"))
            if number % 10 == 0 {
                await cache.flush()
                #expect(fixture.bytesOnDisk() <= 50_000)
            }
        }
        await cache.flush()
        #expect(fixture.bytesOnDisk() > 25_000)
        #expect(cache.counters.bytes == fixture.bytesOnDisk())
        #expect(cache.counters.evictions > 150 && cache.counters.faults == 0)
    }

    @Test("eviction removes the least recently used entries, down to nine tenths of the limit, and no more")
    func order() async throws {
        let cache = fixture.cache(limit: 100_000)
        let keys = (0..<99).map { key("\($0)") }
        await cache.fill(0..<99, with: bytes)
        // The order of use differs from the order of storing.
        for (index, key) in keys.enumerated() {
            fixture.setAccessTime(fixture.file(key), 1_000 + index * 37 % 99)
        }
        while cache.counters.evictions == 0 {
            await cache.put(bytes, for: key("more \(fixture.bytesOnDisk())"))
        }
        let gone = keys.indices.filter { !cache.contains(keys[$0]) }
        let oldest = keys.indices.sorted { $0 * 37 % 99 < $1 * 37 % 99 }.prefix(gone.count)
        #expect(Set(gone) == Set(oldest) && gone.count == cache.counters.evictions)
        #expect((88_000...90_000).contains(fixture.bytesOnDisk()))
    }

    @Test("the limit can change: the next store evicts what exceeds a lower one")
    func changedLimit() async throws {
        let cache = fixture.cache(limit: 100_000)
        await cache.fill(0..<50, with: bytes)
        let before = fixture.bytesOnDisk()
        cache.limit = before / 2
        #expect(cache.limit == before / 2 && fixture.bytesOnDisk() == before)
        await cache.put(bytes, for: key("one more"))
        #expect(fixture.bytesOnDisk() <= before / 2 && cache.contains(key("one more")))
        cache.limit = 10
        await cache.put(bytes, for: key("too large"))
        #expect(!cache.contains(key("too large")))
    }

    @Test(
        "expired entries are evicted first, however recently used; the others follow in order of use"
    )
    func expired() async throws {
        let cache = fixture.cache(limit: 100_000)
        let keys = (0..<99).map { key("\($0)") }
        for (index, key) in keys.enumerated() {
            let expiry = [nil, time(nil) + 100_000, 1_000][index % 3]
            await cache.store(bytes, expiry: expiry, for: key)
        }
        await cache.flush()
        for (index, key) in keys.enumerated() { fixture.setAccessTime(fixture.file(key), 1_000 + index) }
        while cache.counters.evictions == 0 {
            await cache.put(bytes, for: key("more \(fixture.bytesOnDisk())"))
        }
        let gone = keys.indices.filter { !cache.contains(keys[$0]) }
        #expect(gone == Array(stride(from: 2, to: 99, by: 3).prefix(gone.count)) && gone.count > 5)
    }

    @Test("a large cache evicts the least recently used part of one folder at a time, never a whole folder")
    func byFolders() async throws {
        let cache = fixture.cache(limit: 400_000, largeCount: 0)
        let keys = (0..<380).map { key("\($0)") }
        await cache.fill(0..<380, with: bytes)
        for (index, key) in keys.enumerated() { fixture.setAccessTime(fixture.file(key), 1_000 + index) }
        await cache.put([UInt8](repeating: 1, count: 40_000), for: key("large"))
        #expect(cache.contains(key("large")))
        #expect(fixture.bytesOnDisk() <= 400_000 && fixture.bytesOnDisk() > 330_000)
        // In each folder that lost entries, the younger ones are left.
        for shard in Dictionary(grouping: keys.indices, by: { keys[$0].digest.first >> 56 }).values {
            let kept = shard.filter { cache.contains(keys[$0]) }
            let lost = shard.filter { !cache.contains(keys[$0]) }
            if let oldestKept = kept.min(), let youngestLost = lost.max() {
                #expect(youngestLost < oldestKept)
            }
        }
    }

    @Test("a hit renews an entry, but writes its access time at most once per interval")
    func touching() async throws {
        let cache = fixture.cache(touchInterval: 86_400)
        let file = fixture.file(key("a"))
        // The file system's clock and that of time(2) may each be a tick behind the other.
        let start = time(nil) - 1
        await cache.put([1], for: key("a"))
        #expect((start...time(nil) + 1).contains(fixture.accessTime(file)))
        fixture.setAccessTime(file, 1_000)
        _ = cache.body(key("a"))
        #expect((start...time(nil) + 1).contains(fixture.accessTime(file)))
        let recent = start - 3_600
        fixture.setAccessTime(file, recent)
        _ = cache.body(key("a"))
        #expect(fixture.accessTime(file) == recent)
    }

    @Test("verify and listing do not change the order of use")
    func scansDoNotTouch() async throws {
        let cache = fixture.cache()
        await cache.put([1], for: key("a"))
        fixture.setAccessTime(fixture.file(key("a")), 1_000)
        _ = await cache.verify()
        await cache.forEachEntry { _ in }
        _ = cache.contains(key("a"))
        #expect(fixture.accessTime(fixture.file(key("a"))) == 1_000)
    }

    @Test("two caches on one folder share its limit, and each sees what the other stored")
    func sharedLimit() async throws {
        let caches = [fixture.cache(limit: 50_000), fixture.cache(limit: 50_000)]
        for number in 0..<120 {
            await caches[number % 2].put(bytes, for: key("\(number)"))
        }
        #expect(fixture.bytesOnDisk() <= 50_000 && fixture.bytesOnDisk() > 40_000)
        #expect(caches.contains { $0.counters.evictions > 0 })
    }

    @Test(
        "lost or wrong counts are recounted, and the limit holds again",
        arguments: [nil, 0, 13, 4_112] as [Int?])
    func wrongCounts(size: Int?) async throws {
        let first = fixture.cache(limit: 50_000)
        await first.fill(0..<40, with: bytes)
        try fixture.remove(fixture.path + "/usage")
        if let size { try write([UInt8](repeating: 0xff, count: size), to: fixture.path + "/usage") }
        let next = fixture.cache(limit: 50_000)
        await next.flush()
        await next.flush()
        #expect(next.counters.bytes == fixture.bytesOnDisk() && next.counters.entries == 40)
        await next.fill(40..<100, with: bytes)
        #expect(fixture.bytesOnDisk() <= 50_000)
    }

    @Test("counts that are too high cost one scan and no entry")
    func countsTooHigh() async throws {
        let cache = fixture.cache(limit: 50_000)
        await cache.fill(0..<10, with: bytes)
        var usage = try fixture.bytes(of: fixture.path + "/usage")
        // Simulates many crashes between counting and renaming: the counts have 1 MiB that is not there.
        usage[16 + 2] = 0x10
        try write(usage, to: fixture.path + "/usage")
        let next = fixture.cache(limit: 50_000)
        #expect(next.counters.bytes > 1 << 20)
        await next.put([1], for: key("more"))
        #expect(next.counters.evictions == 0 && next.counters.entries == 11)
        #expect(next.counters.bytes == fixture.bytesOnDisk())
    }

    @Test(
        "a cache leaves eviction to the instance that is evicting, unless the cache grows far beyond its limit"
    )
    func stoppedEvictor() async throws {
        let cache = fixture.cache(limit: 100_000)
        await cache.fill(0..<100, with: bytes)
        // Simulates a process that was stopped in the middle of an eviction and never continues.
        let lock = unsafe open(fixture.path + "/evicting", O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        await cache.fill(100..<102, with: bytes)
        #expect(cache.counters.evictions == 0)
        await cache.fill(102..<110, with: bytes)
        #expect(cache.counters.evictions > 0 && fixture.bytesOnDisk() <= 102_000)
    }

    @Test("trim evicts the oldest entries down to the given size", arguments: [20_000, 0])
    func trim(largeCount: Int) async throws {
        let cache = fixture.cache(largeCount: largeCount)
        await cache.fill(0..<100, with: bytes)
        let before = fixture.bytesOnDisk()
        let removed = await cache.trim(to: 30_000)
        #expect(fixture.bytesOnDisk() <= 30_000 && cache.counters.bytes == fixture.bytesOnDisk())
        #expect(removed.removedEntries == 100 - cache.counters.entries)
        #expect(removed.removedBytes == before - removed.bytes && removed.bytes == fixture.bytesOnDisk())
        if largeCount > 0 { #expect(fixture.bytesOnDisk() > 28_000) }
        await cache.trim(to: 0)
        #expect(fixture.bytesOnDisk() == 0)
    }

    @Test("verify removes corrupt entries, keeps good ones, reports both, and leaves correct counts")
    func verify() async throws {
        let cache = fixture.cache()
        await cache.fill(0..<10, with: pseudoRandomBytes(count: 100))
        try write(Array(fixture.bytes(of: fixture.file(key("3"))).dropLast()), to: fixture.file(key("3")))
        try write(fixture.bytes(of: fixture.file(key("5"))), to: fixture.file(key("4")))
        let report = await cache.verify()
        #expect(report.entries == 8 && report.removedEntries == 2 && report.bytes == fixture.bytesOnDisk())
        #expect(
            cache.counters.bytes == report.bytes && cache.counters.entries == 8 && cache.counters.corrupt == 2
        )
        #expect(cache.body(key("5")) != nil && cache.body(key("4")) == nil)
    }

    @Test("entries can be listed and removed by their URL, and files that are not the cache's stay")
    func byURL() async throws {
        let cache = fixture.cache()
        for host in ["a.example", "b.example"] {
            for number in 0..<5 {
                let url = try #require(URL(string: "http://\(host)/\(number)"))
                await cache.store([1], for: CacheKey(url: url, headers: [("accept-language", "de")]))
            }
        }
        await cache.flush()
        let foreign = fixture.path + "/a0/readme.txt"
        try FileManager.default.createDirectory(
            atPath: fixture.path + "/a0", withIntermediateDirectories: true)
        try write([1], to: foreign)
        let report = await cache.removeAll { $0.url.hasPrefix("http://a.example/") }
        #expect(report.removedEntries == 5 && report.entries == 5 && cache.counters.entries == 5)
        let urls = Lock<[String]>([])
        await cache.forEachEntry { entry in urls.withLock { $0.append(entry.url) } }
        #expect(urls.withLock { $0.sorted() } == (0..<5).map { "http://b.example/\($0)" })
        await cache.removeAll()
        #expect(fixture.size(foreign) == 1 && cache.counters.entries == 0 && cache.counters.bytes == 0)
    }
}
