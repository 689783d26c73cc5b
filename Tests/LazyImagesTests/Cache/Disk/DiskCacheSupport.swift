import Dispatch
import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport
import TestSupport
import Testing

/// A temporary folder for one test's cache, and helpers to inspect and change it.
struct DiskFixture {
    let folder: TemporaryFolder
    /// The cache's own folder, which does not exist before the first store.
    var path: String { folder.file("cache") }

    init() throws { folder = try TemporaryFolder() }

    func cache(
        limit: Int = 1 << 20, stagingLimit: Int = 32 << 20, touchInterval: Int = 60, largeCount: Int = 20_000,
        calls: FileCalls = FileCalls()
    ) -> DiskCache {
        DiskCache(
            folder: path, limit: limit, stagingLimit: stagingLimit, touchInterval: touchInterval,
            largeCount: largeCount, calls: calls)
    }

    /// The path of a key's entry, as `DiskCache` documents it.
    func file(_ key: CacheKey) -> String {
        let name = key.digest.hexadecimal
        return "\(path)/\(name.prefix(2))/\(name)"
    }

    func names(in subfolder: String) -> [String] {
        // A folder that does not exist has no names.
        (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(subfolder)")) ?? []
    }

    /// The sum of the sizes of all entry files, read from the disk.
    func bytesOnDisk() -> Int {
        names(in: "").filter { $0.count == 2 }.flatMap { shard in
            names(in: shard).map { "\(path)/\(shard)/\($0)" }
        }.reduce(0) { $0 + size($1) }
    }

    func size(_ file: String) -> Int {
        var status = stat()
        return unsafe lstat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    func accessTime(_ file: String) -> Int {
        var status = stat()
        return unsafe lstat(file, &status) == 0 ? Int(status.st_atim.tv_sec) : 0
    }

    /// Sets the last use of a file, in seconds since 1970.
    func setAccessTime(_ file: String, _ seconds: Int) {
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)]
        #expect(unsafe utimensat(AT_FDCWD, file, times, 0) == 0)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    func move(_ path: String, to newPath: String) throws {
        try FileManager.default.moveItem(atPath: path, toPath: newPath)
    }

    func bytes(of path: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(filePath: path))) }
}

/// The key of a URL on an invented server.
func key(_ name: String) -> CacheKey {
    CacheKey(url: URL(string: "http://example.org/\(name)") ?? URL(filePath: "/\(name)"))
}

/// Duplicates the descriptors of all open files whose paths begin with `beginning`, as a fork does for a
/// moment. The caller closes the duplicates.
func duplicatedDescriptors(ofFiles beginning: String) throws -> [Int32] {
    // Lists the descriptors before it duplicates one: a duplicate may take the number of the listing's own
    // descriptor.
    let found = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
        // Ignored: another test may have closed the descriptor since the listing.
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + number)
        return path?.hasPrefix(beginning) == true
    }
    return found.compactMap { Int32($0) }.map { dup($0) }
}

extension DiskCache {
    /// Stores a value, and waits until it is on disk.
    func put(_ body: [UInt8], metadata: [UInt8] = [], expiry: Int? = nil, for key: CacheKey) async {
        await store(body, metadata: metadata, expiry: expiry, for: key)
        await flush()
    }

    /// Stores a value under each number, and waits until they are on disk.
    func fill(_ numbers: Range<Int>, with body: [UInt8]) async {
        for number in numbers { await store(body, for: key("\(number)")) }
        await flush()
    }

    /// The body for a key, by the synchronous lookup.
    func body(_ key: CacheKey) -> [UInt8]? { readEntry(for: key)?.body.array }
}

/// Makes system calls fail as planned, and counts them.
final class FaultPlan: Sendable {
    private struct State {
        var count = 0
        var first = Int.max
        var isPersistent = false
        var kind: FileCalls.Kind?
        var fault = FileCalls.InjectedFault.short
    }

    private let state = Lock(State())

    var calls: FileCalls { FileCalls(inject: { [self] in judge($0) }) }

    /// System calls since the plan was set.
    var count: Int { state.withLock { $0.count } }

    /// Makes the call with this number fail, and every later one if `isPersistent`. Numbers start at 0 and count
    /// calls of `kind`, or all calls without one.
    func fail(
        at first: Int, isPersistent: Bool = false, of kind: FileCalls.Kind? = nil,
        _ fault: FileCalls.InjectedFault
    ) {
        state.withLock {
            $0 = State(first: first, isPersistent: isPersistent, kind: kind, fault: fault)
        }
    }

    /// Lets every call succeed again.
    func clear() { state.withLock { $0 = State() } }

    private func judge(_ kind: FileCalls.Kind) -> FileCalls.InjectedFault? {
        state.withLock { state in
            if let only = state.kind, only != kind { return nil }
            defer { state.count += 1 }
            return state.count == state.first || state.isPersistent && state.count > state.first
                ? state.fault : nil
        }
    }
}
