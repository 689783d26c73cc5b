import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import PictureServer

@Suite("The names on disk, in memory", .bounded)
struct StoredNamesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var disk: DiskCache { DiskCache(folder: folder.file("cache"), limit: 1 << 20) }

    private func key(_ number: Int) -> CacheKey { CacheKey(id: "\(number)") }

    private func store(_ numbers: Range<Int>, in disk: DiskCache) async {
        for number in numbers { await disk.store([1], for: key(number)) }
        await disk.flush()
    }

    @Test("before the folder is read every name may be on disk; afterwards only stored names may")
    func reading() async {
        let disk = disk
        await store(0..<20, in: disk)
        let names = StoredNames(disk)
        #expect(names.mayHold(key(20)))
        await names.read()
        #expect((0..<20).allSatisfy { names.mayHold(key($0)) } && !names.mayHold(key(20)))
        names.insert(key(20))
        #expect(names.mayHold(key(20)) && !names.mayHold(key(21)))
    }

    @Test("a missing folder has no names")
    func absent() async {
        let names = StoredNames(disk)
        await names.read()
        #expect(!names.mayHold(key(0)))
    }

    @Test("names above the limit are not kept, and names are kept again once there are fewer")
    func limited() async throws {
        let disk = disk
        await store(0..<8, in: disk)
        let names = StoredNames(disk, limit: 10)
        await names.read()
        #expect(!names.mayHold(key(8)))
        // Only their names are stored: the folder still has eight files.
        for number in 8..<11 { names.insert(key(number)) }
        try await eventually { !names.mayHold(key(11)) }
        #expect(!names.mayHold(key(8)) && names.mayHold(key(7)))

        await store(8..<12, in: disk)
        let few = StoredNames(disk, limit: 10)
        await few.read()
        #expect(few.mayHold(key(12)))
    }
}
