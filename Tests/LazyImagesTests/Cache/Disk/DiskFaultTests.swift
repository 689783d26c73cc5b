import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport
import TestTraits
import Testing

@Suite("Disk faults", .bounded)
struct DiskFaultTests {
    private let fixture: DiskFixture
    private let plan = FaultPlan()
    private let bytes = pseudoRandomBytes(count: 5_000)
    private let oldBytes = pseudoRandomBytes(count: 3_000, seed: 2)
    /// Stored before the first fault. It must stay whole.
    private let old = key("old")

    init() throws { fixture = try DiskFixture() }

    private static let faults: [FileCalls.InjectedFault] = [
        .failure(ENOSPC), .failure(EIO), .failure(EMFILE), .failure(EACCES), .failure(EROFS), .short,
    ]

    @Test(
        "whichever call of a store fails, once or always: the value is whole or missing, no other entry is lost, and the cache recovers",
        arguments: faults, [false, true])
    func everyCallOfAStore(fault: FileCalls.InjectedFault, isPersistent: Bool) async throws {
        let cache = try await cacheWithOldEntry()
        plan.clear()
        await cache.put(bytes, metadata: [1], for: key("counting"))
        let calls = plan.count
        #expect(calls > 8)
        for number in 0..<calls {
            let new = key("new \(number)")
            plan.fail(at: number, isPersistent: isPersistent, fault)
            await cache.put(bytes, metadata: [1], for: new)
            plan.clear()
            let other = fixture.cache()
            // The cache's sweep reads the temporary folder. It must end before the next store uses that
            // folder.
            await other.flush()
            for cache in [cache, other] {
                let found = cache.body(new)
                #expect(found == nil || found == bytes)
                #expect(cache.body(old) == oldBytes)
                #expect(cache.counters.corrupt == 0)
            }
            await cache.put([1], for: new)
            #expect(cache.body(new) == [1])
        }
        #expect(fixture.names(in: "tmp").isEmpty || isPersistent)
        await fixture.cache().flush()
        #expect(fixture.names(in: "tmp").isEmpty, "the next opening sweeps the leftover of a failed removal")
    }

    @Test(
        "whichever call of a lookup fails: the lookup is a miss, and the entry stays",
        arguments: faults)
    func everyCallOfALookup(fault: FileCalls.InjectedFault) async throws {
        let cache = try await cacheWithOldEntry()
        plan.clear()
        #expect(cache.body(old) != nil)
        let calls = plan.count
        #expect(calls >= 3)
        for number in 0..<calls {
            plan.fail(at: number, fault)
            let found = cache.body(old)
            #expect(found == nil || found == oldBytes)
            plan.clear()
            #expect(cache.body(old) == oldBytes)
        }
        #expect(cache.counters.corrupt == 0)
    }

    @Test(
        "whichever call of an eviction fails, once or always: no entry is torn, and the next eviction frees the room",
        arguments: [.failure(ENOSPC), .failure(EIO), .failure(EMFILE), .short] as [FileCalls.InjectedFault],
        0..<Rounds.count(2, many: 8))
    func everyCallOfAnEviction(fault: FileCalls.InjectedFault, first: Int) async throws {
        let probe = fixture.cache(limit: 10_000, calls: plan.calls)
        for number in 0..<9 { await probe.store(Array(bytes.prefix(900)), for: key("fill \(number)")) }
        await probe.flush()
        plan.clear()
        await probe.put(oldBytes, for: key("counting"))
        let calls = plan.count
        #expect(calls > 300 && probe.counters.evictions > 0)
        // Every second case fails from this call on. Most calls open, list and close the folders of entries,
        // so each case hits few calls of the other kinds.
        for number in stride(from: first, to: calls, by: 32) {
            plan.fail(at: number, isPersistent: !first.isMultiple(of: 2), fault)
            await probe.put(oldBytes, for: key("new \(number)"))
            plan.clear()
            await probe.put(Array(bytes.prefix(500)), for: key("next \(number)"))
            #expect(fixture.bytesOnDisk() <= 10_000)
        }
        let report = await fixture.cache().verify()
        #expect(report.removedEntries == 0 && report.entries > 0 && probe.counters.corrupt == 0)
    }

    @Test("a disk that keeps failing counts as one fault, with its reason, until it works again")
    func oneFault() async throws {
        let cache = try await cacheWithOldEntry()
        plan.fail(at: 0, isPersistent: true, of: .open, .failure(EROFS))
        await cache.fill(0..<5, with: [1])
        #expect(cache.counters.faults == 1)
        #expect(cache.counters.lastFault?.contains("Read-only file system") == true)
        plan.clear()
        await cache.put([1], for: key("a"))
        #expect(cache.body(key("a")) == [1] && cache.counters.faults == 1)
        plan.fail(at: 0, isPersistent: true, of: .write, .failure(ENOSPC))
        await cache.put([1], for: key("b"))
        #expect(cache.counters.faults == 2)
        #expect(cache.counters.lastFault?.contains("No space left on device") == true)
    }

    @Test("a value that could not be written is not counted")
    func countsAfterFailure() async throws {
        let cache = try await cacheWithOldEntry()
        let before = cache.counters
        plan.fail(at: 0, isPersistent: true, of: .rename, .failure(ENOSPC))
        await cache.fill(0..<5, with: bytes)
        plan.clear()
        await cache.put([1], for: old)
        #expect(cache.counters.entries == before.entries && cache.counters.bytes == fixture.bytesOnDisk())
    }

    private func cacheWithOldEntry() async throws -> DiskCache {
        let cache = fixture.cache(calls: plan.calls)
        await cache.put(oldBytes, for: old)
        return cache
    }
}
