import FoundationEssentials
import Glibc
import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Disk statistics", .bounded)
struct DiskStatisticsTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    @Test("hits, misses and stores of all instances are summed by host and outlive the instances")
    func sums() async throws {
        for _ in 0..<3 {
            let cache = fixture.cache()
            _ = cache.body(key("absent"))
            await cache.put([1], for: key("a"))
            _ = cache.body(key("a"))
            await cache.flush()
        }
        let other = CacheKey(url: try #require(URL(string: "https://Other.example:8443/a?b")))
        let last = fixture.cache()
        _ = last.body(other)
        let expected = [
            "example.org": HostStatistics(hits: 3, misses: 3, stores: 3),
            "other.example": HostStatistics(misses: 1),
        ]
        #expect(await last.statistics().hosts == expected)
        #expect(await fixture.cache().statistics().hosts == expected)
    }

    @Test("an entry found corrupt is counted for its host")
    func corrupt() async throws {
        let cache = fixture.cache()
        await cache.put([1], for: key("a"))
        try write([1, 2, 3], to: fixture.file(key("a")))
        _ = cache.body(key("a"))
        #expect(await cache.statistics().hosts["example.org"]?.corrupt == 1)
    }

    @Test("counts are kept for the next time while another process writes the file or the disk fails")
    func busy() async throws {
        let plan = FaultPlan()
        let cache = fixture.cache(calls: plan.calls)
        await cache.put([1], for: key("a"))
        let lock = unsafe open(fixture.path + "/statistics", O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        _ = cache.body(key("a"))
        #expect(await cache.statistics().hosts["example.org"] == HostStatistics(hits: 1, stores: 1))
        flock(lock, LOCK_UN)
        close(lock)
        plan.fail(at: 0, isPersistent: true, .failure(EIO))
        await cache.flush()
        plan.clear()
        await cache.flush()
        #expect(await fixture.cache().statistics().hosts["example.org"] == HostStatistics(hits: 1, stores: 1))
    }

    @Test(
        "a file in another format, or longer than the limit, is replaced; malformed lines are skipped")
    func damaged() async throws {
        #expect(StatisticsTable(text: "something else\n1 2 3 4 a\n").isEmpty)
        let table = StatisticsTable(
            text: "marquee statistics 1\nheading\n1 2 3 4 a\n1 2 x 4 b\n1 2 3\n5 6 7 8 c\n\n\n")
        #expect(
            table.hosts == [
                "a": HostStatistics(hits: 1, misses: 2, stores: 3, corrupt: 4),
                "c": HostStatistics(hits: 5, misses: 6, stores: 7, corrupt: 8),
            ])
        #expect(StatisticsTable(text: table.text) == table)
    }

    @Test("lookups are counted by day, and survive in the file beside the hosts")
    func days() async throws {
        let before = FileTime.coarseNow.seconds / 86_400
        for _ in 0..<2 {
            let cache = fixture.cache()
            _ = cache.body(key("a"))
            await cache.put([1], for: key("a"))
            _ = cache.body(key("a"))
            await cache.flush()
        }
        let table = await fixture.cache().statistics()
        // The test may run over midnight.
        #expect(table.days.keys.allSatisfy { before...before + 1 ~= $0 })
        #expect(table.days.values.reduce(0) { $0 + $1.hits } == table.hosts["example.org"]?.hits)
        #expect(table.days.values.reduce(0) { $0 + $1.misses } == 1)
        #expect(StatisticsTable(text: table.text) == table)
    }

    @Test("the file keeps the last 92 days")
    func dayBound() {
        var table = StatisticsTable()
        for day in 0..<200 { table.add(DayLookups(hits: 1), on: day) }
        #expect(table.days.count == 92 && table.days.keys.min() == 108)
    }

    @Test("the file keeps a thousand hosts and sums the rest")
    func bound() {
        var table = StatisticsTable()
        for number in 0..<5_000 { table.add(HostStatistics(hits: 1), for: "host\(number)") }
        #expect(table.hosts.count == 1_001 && table.hosts[""]?.hits == 4_000)
    }
}
