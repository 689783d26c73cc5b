import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Disk cache", .bounded)
struct DiskCacheTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    @Test("a stored value comes back with its metadata, from this cache and from the next one on the folder")
    func roundTrip() async throws {
        let (key, body) = (key("a"), pseudoRandomBytes(count: 60_000))
        let cache = fixture.cache()
        #expect(await cache.entry(for: key) == nil)
        await cache.put(body, metadata: [1, 2, 3], for: key)
        for cache in [cache, fixture.cache()] {
            let entry = try #require(await cache.entry(for: key))
            #expect(entry.body.array == body && entry.metadata == [1, 2, 3])
        }
        let counters = cache.counters
        #expect(counters.hits == 1 && counters.misses == 1 && counters.stores == 1 && counters.faults == 0)
        #expect(counters.entries == 1 && counters.bytes == fixture.bytesOnDisk())
    }

    @Test("an empty body without metadata is a value like any other")
    func emptyBody() async throws {
        let cache = fixture.cache()
        await cache.put([], for: key("a"))
        #expect(cache.body(key("a")) == [])
        #expect(cache.contains(key("a")) && cache.bodyLength(for: key("a")) == 0)
    }

    @Test("a value can be read as soon as store returns, before it is on disk")
    func staged() async throws {
        let gate = CallGate()
        let cache = fixture.cache(
            calls: gate.calls(before: .rename))
        await cache.store([7], metadata: [8], for: key("a"))
        #expect(cache.body(key("a")) == [7] && cache.bodyLength(for: key("a")) == 1)
        #expect(fixture.bytesOnDisk() == 0)
        gate.open()
        await cache.flush()
        #expect(fixture.bytesOnDisk() > 0 && fixture.cache().body(key("a")) == [7])
    }

    @Test("the later of two values for one key wins, staged or on disk, with the same body or another")
    func replacing() async throws {
        let (cache, key, body) = (fixture.cache(), key("a"), ByteArray([1]))
        for _ in 0..<50 {
            await cache.store([9], metadata: [], for: key)
            await cache.store(body, metadata: [1], for: key)
            await cache.store(body, metadata: [2], for: key)
        }
        #expect(await cache.entry(for: key)?.metadata == [2])
        await cache.flush()
        let entry = try #require(await fixture.cache().entry(for: key))
        #expect(entry.metadata == [2] && entry.body.array == [1])
        #expect(cache.counters.entries == 1 && cache.counters.bytes == fixture.bytesOnDisk())
    }

    @Test("a value stored while an older one is being written is kept, and the older one does not replace it")
    func replacedWhileWritten() async throws {
        let gate = CallGate()
        let (cache, key, body) = (fixture.cache(calls: gate.calls(before: .rename)), key("a"), ByteArray([1]))
        await cache.store(body, metadata: [1], for: key)
        try await gate.reached()
        await cache.store(body, metadata: [2], for: key)
        gate.open()
        await cache.flush()
        #expect(await cache.entry(for: key)?.metadata == [2])
        #expect(await fixture.cache().entry(for: key)?.metadata == [2])
    }

    @Test("staged bytes are bounded: store waits for room, and values arrive in order")
    func stagingBound() async throws {
        let gate = CallGate()
        let cache = fixture.cache(
            stagingLimit: 2_500,
            calls: gate.calls(before: .rename))
        let keys = (0..<6).map { key("\($0)") }
        let stored = Tally()
        let storing = Task {
            for key in keys {
                await cache.store(pseudoRandomBytes(count: 1_000), metadata: [], for: key)
                stored.add()
            }
        }
        // The first two fit. The third waits until the first is on disk.
        try await stored.wait(for: 2)
        try await eventually { cache.hasWaitingStores }
        #expect(cache.contains(keys[1]) && !cache.contains(keys[2]) && stored.count == 2)
        gate.open()
        await storing.value
        await cache.flush()
        for key in keys { #expect(cache.body(key) == pseudoRandomBytes(count: 1_000)) }
    }

    @Test("removing staged values frees room for waiting stores")
    func removalMakesRoom() async throws {
        let gate = CallGate()
        let cache = fixture.cache(stagingLimit: 1_000, calls: gate.calls(before: .list))
        await cache.store([1], metadata: [], for: key("on disk"))
        // The writer is busy with a task that is no store and that frees no room when it ends.
        async let scan = cache.verify()
        try await gate.reached()
        await cache.store(pseudoRandomBytes(count: 900), metadata: [], for: key("staged"))
        async let store: Void = cache.store(pseudoRandomBytes(count: 900), metadata: [], for: key("waiting"))
        try await eventually { cache.hasWaitingStores }
        async let removal: Void = cache.remove(key("staged"))
        try await eventually { !cache.contains(key("staged")) }
        gate.open()
        _ = await (scan, store, removal)
        await cache.flush()
        #expect(cache.body(key("waiting"))?.count == 900 && cache.body(key("staged")) == nil)
    }

    @Test("removing a key also removes a store of it that waits for room, and that store returns")
    func removalOfWaiting() async throws {
        let gate = CallGate()
        let cache = fixture.cache(stagingLimit: 1_000, calls: gate.calls(before: .rename))
        await cache.store(pseudoRandomBytes(count: 900), metadata: [], for: key("staged"))
        try await gate.reached()
        async let store: Void = cache.store(pseudoRandomBytes(count: 900), metadata: [], for: key("waiting"))
        try await eventually { cache.hasWaitingStores }
        async let removal: Void = cache.remove(key("waiting"))
        await store
        #expect(!cache.hasWaitingStores)
        gate.open()
        await removal
        await cache.flush()
        #expect(cache.body(key("waiting")) == nil && cache.body(key("staged"))?.count == 900)
    }

    @Test("removing all drops the store that is being written, the staged ones and those that wait for room")
    func removalOfAll() async throws {
        let gate = CallGate()
        let cache = fixture.cache(stagingLimit: 2_000, calls: gate.calls(before: .rename))
        let bytes = pseudoRandomBytes(count: 900)
        for name in ["written", "staged"] { await cache.store(bytes, metadata: [], for: key(name)) }
        try await gate.reached()
        async let store: Void = cache.store(bytes, metadata: [], for: key("waiting"))
        try await eventually { cache.hasWaitingStores }
        async let removal: Void = cache.removeAll()
        try await eventually { !cache.contains(key("staged")) }
        gate.open()
        _ = await (store, removal)
        await cache.flush()
        for name in ["written", "staged", "waiting"] { #expect(cache.body(key(name)) == nil, "\(name)") }
        #expect(fixture.bytesOnDisk() == 0 && cache.counters.bytes == 0)
        await cache.put(bytes, metadata: [], for: key("later"))
        #expect(fixture.cache().body(key("later")) == bytes)
    }

    @Test("an entry beyond this cache's limit is a miss, also for a verification, and stays for the others")
    func beyondTheLimit() async throws {
        let (large, small) = (fixture.cache(), fixture.cache(limit: 1_000))
        let bytes = pseudoRandomBytes(count: 2_000)
        await large.put(bytes, metadata: [], for: key("a"))
        #expect(small.body(key("a")) == nil && small.counters.misses == 1)
        #expect(await small.verify().removedEntries == 0)
        #expect(small.counters.corrupt == 0 && large.body(key("a")) == bytes)
    }

    @Test("a store that is no longer wanted stores nothing and removes nothing")
    func unwanted() async throws {
        let cache = fixture.cache(limit: 1_000)
        await cache.store([1], for: key("a"))
        for count in [1, 2_000] {
            let bytes = ByteArray(pseudoRandomBytes(count: count))
            await cache.store(bytes, metadata: [], for: key("a"), unless: { true })
        }
        await cache.flush()
        #expect(cache.body(key("a")) == [1])
    }

    @Test("a value larger than the limit is not kept, and the older value that it replaces is removed")
    func tooLarge() async throws {
        let cache = fixture.cache(limit: 1_000)
        await cache.store([1], for: key("a"))
        await cache.put(pseudoRandomBytes(count: 1_000), for: key("a"))
        #expect(cache.body(key("a")) == nil && fixture.bytesOnDisk() == 0 && cache.counters.faults == 0)
    }

    @Test("contains reads the header and changes no counter")
    func contains() async throws {
        let cache = fixture.cache()
        await cache.put([1, 2, 3], for: key("a"))
        #expect(cache.contains(key("a")) && !cache.contains(key("b")))
        try write([1, 2, 3], to: fixture.file(key("a")))
        #expect(!cache.contains(key("a")))
        #expect(cache.counters.hits == 0 && cache.counters.misses == 0)
    }

    @Test("a removed value is gone, staged or on disk")
    func removing() async throws {
        let cache = fixture.cache()
        let (first, second) = (key("a"), key("b"))
        await cache.put([1], for: first)
        await cache.store([1], for: second)
        await cache.remove(first)
        await cache.remove(second)
        await cache.remove(key("never there"))
        #expect(cache.body(first) == nil && cache.body(second) == nil && fixture.bytesOnDisk() == 0)
        #expect(cache.counters.bytes == 0 && cache.counters.entries == 0 && cache.counters.faults == 0)
    }

    @Test("no character of a URL or a variant reaches a path: names are digests in folders of two digits")
    func names() async throws {
        let cache = fixture.cache()
        let odd = [
            "../../../etc/passwd", "a/b//c", "%2e%2e%2f", "x?y=/..", String(repeating: "long", count: 2_000),
        ]
        for name in odd {
            let key = key(name).variant("../\(name)")
            await cache.put([1], for: key)
            #expect(cache.body(key) == [1])
            #expect(fixture.size(fixture.file(key)) > 0)
        }
        #expect(cache.counters.entries == odd.count && cache.counters.faults == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) == ["cache"])
    }

    @Test("only this user can read the folder, and backup programs are told to leave it out")
    func folderMode() async throws {
        let cache = fixture.cache()
        #expect(fixture.size(fixture.path) == 0, "opening creates nothing")
        await cache.put([1], for: key("a"))
        var status = stat()
        #expect(unsafe lstat(fixture.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(unsafe lstat(fixture.file(key("a")), &status) == 0 && status.st_mode & 0o777 == 0o600)
        let tag = try fixture.bytes(of: fixture.path + "/CACHEDIR.TAG")
        #expect(tag.starts(with: "Signature: 8a477f597d28d172789f06886806bc55\n".utf8))
        #expect(fixture.names(in: "tmp").isEmpty)
    }

    @Test("unflushed values reach the disk although the cache was released")
    func endOfTheCache() async throws {
        weak var cache: DiskCache?
        do {
            let opened = fixture.cache()
            cache = opened
            for name in 0..<20 { await opened.store([1], for: key("\(name)")) }
        }
        try await eventually { cache == nil }
        let next = fixture.cache()
        for name in 0..<20 { #expect(next.body(key("\(name)")) == [1]) }
    }
}

extension DiskCache {
    /// Whether a store waits for room.
    fileprivate var hasWaitingStores: Bool { state.withLock { !$0.staging.waiting.isEmpty } }
}
