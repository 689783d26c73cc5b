import FoundationEssentials
import Glibc
import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Disk concurrency", .bounded)
struct DiskConcurrencyTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    @Test(
        "readers of an entry that is overwritten all the time see one whole value, never a mixture"
    )
    func overwriting() async throws {
        let (writer, reader, key) = (fixture.cache(), fixture.cache(), key("a"))
        let values = (0..<4).map { [UInt8](repeating: UInt8($0), count: 20_000 + 7_000 * $0) }
        await writer.put(values[0], for: key)
        await withTaskGroup { group in
            group.addTask {
                for round in 0..<80 {
                    await writer.put(values[round % 4], for: key)
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<60 {
                        guard let body = await reader.entry(for: key)?.body.array else {
                            Issue.record("an entry that is always there was missing")
                            continue
                        }
                        #expect(values.contains(body))
                    }
                }
            }
        }
        #expect(reader.counters.corrupt == 0 && reader.counters.faults == 0)
    }

    @Test(
        "instances that store, read, remove, trim and clear at once never read a torn value",
        arguments: [20_000, 0])
    func mixedWork(largeCount: Int) async throws {
        let caches = (0..<3).map { _ in fixture.cache(limit: 60_000, largeCount: largeCount) }
        let keys = (0..<60).map { key("\($0)") }
        await withTaskGroup { group in
            for (worker, cache) in caches.enumerated() {
                group.addTask {
                    for step in 0..<120 {
                        let number = (step * 17 + worker * 5) % keys.count
                        let value = pseudoRandomBytes(count: 500 + number * 30, seed: UInt64(number))
                        if let found = await cache.entry(for: keys[number]) {
                            #expect(found.body.array == value)
                        } else {
                            await cache.store(value, for: keys[number])
                        }
                        if step % 20 == 0 { await cache.remove(keys[(number + 1) % keys.count]) }
                        if step % 50 == 0 { await cache.trim(to: 20_000) }
                        if step == 100 { await cache.removeAll() }
                    }
                    await cache.flush()
                }
            }
        }
        for cache in caches { #expect(cache.counters.corrupt == 0 && cache.counters.lastFault == nil) }
        #expect(await fixture.cache().verify().removedEntries == 0)
        #expect(fixture.names(in: "tmp").isEmpty)
    }

    @Test("removing a corrupt entry never removes the good one that has replaced it")
    func removalRace() async throws {
        let cache = fixture.cache()
        await cache.put([1], for: key("a"))
        let folder = try CacheFolder(path: fixture.path, calls: FileCalls(), isForWriting: true)
        let name = CacheFolder.entryName(of: key("a").digest)
        let judged = try folder.calls.status(of: name, in: folder.descriptor).identity
        await cache.put([2], for: key("a"))
        #expect(try !folder.remove(name, ifStill: judged))
        #expect(cache.body(key("a")) == [2] && fixture.names(in: "tmp").isEmpty)
        let now = try folder.calls.status(of: name, in: folder.descriptor).identity
        #expect(try folder.remove(name, ifStill: now))
        #expect(cache.body(key("a")) == nil)
    }

    @Test("a good entry that was moved aside gives way to one stored meanwhile")
    func removalRaceWithYetAnother() async throws {
        let (cache, path) = (fixture.cache(), fixture.path)
        await cache.put([1], for: key("a"))
        let name = CacheFolder.entryName(of: key("a").digest)
        let file = fixture.file(key("a"))
        let newest = try fixture.bytes(of: file)
        let calls = FileCalls(inject: { kind in
            // Just before the entry moves back, another writer stores a newer one there.
            if kind == .link { try? Data(newest).write(to: URL(filePath: file)) }
            return nil
        })
        let folder = try CacheFolder(path: path, calls: calls, isForWriting: true)
        let judged = try FileCalls().status(ofPath: fixture.path + "/usage").identity
        #expect(try !folder.remove(name, ifStill: judged))
        #expect(cache.body(key("a")) == [1] && fixture.names(in: "tmp").isEmpty)
    }

    @Test(
        "a stopped process that holds the lock of the counts blocks nobody, and the counts are right after its end"
    )
    func stoppedWithUsageLock() async throws {
        let cache = fixture.cache()
        await cache.put([1], for: key("a"))
        let lock = unsafe open(fixture.path + "/usage", O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        await cache.put([2], for: key("b"))
        #expect(cache.body(key("b")) == [2] && cache.counters.entries == 2)
        #expect(fixture.cache().counters.entries == 1)
        // Another test may be starting a program whose process holds a duplicate of the descriptor for a
        // moment.
        flock(lock, LOCK_UN)
        close(lock)
        await cache.flush()
        #expect(fixture.cache().counters.entries == 2)
    }
}
