import FoundationEssentials
import Glibc
import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("The totals of a disk cache", .bounded)
struct CacheTotalsTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    @Test("hits, misses and stores of all instances are summed, and outlive the instances")
    func sums() async throws {
        for _ in 0..<3 {
            let cache = fixture.cache()
            _ = cache.body(key("absent"))
            await cache.put([1], for: key("a"))
            _ = cache.body(key("a"))
            await cache.flush()
            await cache.flush()
        }
        let last = fixture.cache()
        _ = last.body(key("absent"))
        let expected = CacheTotals(hits: 3, misses: 4, stores: 3)
        #expect(await last.totals() == expected)
        #expect(await last.totals() == expected)
        #expect(await fixture.cache().totals() == expected)
    }

    @Test("an entry found corrupt is counted")
    func corrupt() async throws {
        let cache = fixture.cache()
        await cache.put([1], for: key("a"))
        try write([1, 2, 3], to: fixture.file(key("a")))
        _ = cache.body(key("a"))
        #expect(await cache.totals().corrupt == 1)
    }

    @Test("counts are kept for the next time while another process writes the file or the disk fails")
    func busy() async throws {
        let plan = FaultPlan()
        let cache = fixture.cache(calls: plan.calls)
        await cache.put([1], for: key("a"))
        let lock = unsafe open(fixture.path + "/statistics", O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        _ = cache.body(key("a"))
        #expect(await cache.totals() == CacheTotals(hits: 1, stores: 1))
        flock(lock, LOCK_UN)
        close(lock)
        plan.fail(at: 0, isPersistent: true, .failure(EIO))
        await cache.flush()
        plan.clear()
        await cache.flush()
        #expect(await fixture.cache().totals() == CacheTotals(hits: 1, stores: 1))
    }

    @Test("the hosts of an older program's file are summed; its days, and malformed lines, are skipped")
    func older() async throws {
        #expect(CacheTotals(text: "something else\n1 2 3 4 a\n") == CacheTotals())
        let text = "marquee statistics 1\nheading\n1 2 3 4 a\n1 2 x 4 b\n20780 2 3\n5 6 7 8 \n\n\n"
        let totals = CacheTotals(hits: 6, misses: 8, stores: 10, corrupt: 12)
        #expect(CacheTotals(text: text) == totals)
        #expect(CacheTotals(text: totals.text) == totals)
        // An older program reads a line of five words whose last is an empty host.
        #expect(totals.text.split(separator: "\n").last == "6 8 10 12 ")
        let cache = fixture.cache()
        await cache.put([1], for: key("a"))
        await cache.flush()
        try write(Array(text.utf8), to: fixture.path + "/statistics")
        await cache.put([2], for: key("b"))
        #expect(await cache.totals().stores == 11)
    }
}
