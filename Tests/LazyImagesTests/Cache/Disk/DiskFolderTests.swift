import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import Testing

@testable import LazyImages

@Suite("Disk cache folder", .timeLimit(.minutes(30)))
struct DiskFolderTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    @Test("a folder deleted from outside is made anew, at once, by the instance that is open")
    func deleted() async throws {
        let cache = fixture.cache()
        await store(cache, "a")
        try fixture.remove(fixture.path)
        #expect(cache.body(key("a")) == nil)
        await store(cache, "b")
        #expect(cache.body(key("b")) == [1] && fixture.cache().body(key("b")) == [1])
        #expect(cache.counters.entries == 1)
    }

    @Test("a reader that stores nothing finds what others put into a folder made anew")
    func deletedUnderAReader() async throws {
        let reader = fixture.cache()
        await store(fixture.cache(), "a")
        #expect(reader.body(key("a")) == [1])
        try fixture.remove(fixture.path)
        await store(fixture.cache(), "b")
        #expect(reader.body(key("b")) == [1] && reader.counters.faults == 0)
    }

    @Test(
        "a folder emptied from outside, in whole or in part, goes on working",
        arguments: ["tmp", "usage", "a shard", "all"])
    func emptied(what: String) async throws {
        let cache = fixture.cache()
        await store(cache, "a")
        let shard = String(key("a").digest.hexadecimal.prefix(2))
        let names = what == "all" ? fixture.names(in: "") : [what == "a shard" ? shard : what]
        for name in names { try fixture.remove(fixture.path + "/" + name) }
        await store(cache, "b")
        await store(cache, "a")
        #expect(cache.body(key("a")) == [1] && cache.body(key("b")) == [1])
        #expect(cache.counters.faults == 0)
    }

    @Test("a folder moved away is left alone: what is stored from then on goes where the path leads")
    func moved() async throws {
        let cache = fixture.cache()
        await store(cache, "a")
        try fixture.move(fixture.path, to: fixture.folder.file("elsewhere"))
        await store(cache, "b")
        #expect(fixture.size(fixture.file(key("b"))) > 0)
        #expect(cache.body(key("a")) == nil && cache.body(key("b")) == [1])
    }

    @Test("a folder put in the place of another is noticed by the next store")
    func replaced() async throws {
        let cache = fixture.cache()
        await store(cache, "a")
        try fixture.move(fixture.path, to: fixture.folder.file("first"))
        let other = fixture.cache()
        await store(other, "b")
        await store(cache, "c")
        #expect(cache.body(key("b")) == [1] && other.body(key("c")) == [1] && cache.body(key("a")) == nil)
    }

    @Test("a symbolic link in the folder's place is refused and explained, until it is gone")
    func symbolicLink() async throws {
        let target = fixture.folder.file("target")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: fixture.path, withDestinationPath: target)
        let cache = fixture.cache()
        await store(cache, "a")
        #expect(cache.body(key("a")) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
        #expect(cache.counters.lastFault?.contains("symbolic link") == true)
        try fixture.remove(fixture.path)
        await store(cache, "a")
        #expect(cache.body(key("a")) == [1])
    }

    @Test("a file in the folder's place is refused and left as it is")
    func fileInPlace() async throws {
        try write([1, 2, 3], to: fixture.path)
        let cache = fixture.cache()
        await store(cache, "a")
        #expect(cache.body(key("a")) == nil && cache.counters.faults > 0)
        #expect(try fixture.bytes(of: fixture.path) == [1, 2, 3])
    }

    @Test(
        "another user's folder is refused", .enabled(if: geteuid() == 0, "only root can give a folder away"))
    func foreignOwner() async throws {
        let cache = fixture.cache()
        await store(cache, "a")
        #expect(unsafe chown(fixture.path, 12_345, 12_345) == 0)
        let next = fixture.cache()
        await store(next, "b")
        #expect(next.body(key("a")) == nil && next.counters.lastFault?.contains("another user") == true)
        #expect(fixture.size(fixture.file(key("b"))) == 0)
    }

    @Test(
        "symbolic links and other things in an entry's place are never followed, and are replaced by a store")
    func oddEntries() async throws {
        let cache = fixture.cache()
        await store(cache, "a")
        let (file, victim) = (fixture.file(key("a")), fixture.folder.file("victim"))
        try fixture.move(file, to: victim)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: victim)
        #expect(cache.body(key("a")) == nil)
        #expect(fixture.size(victim) > 0)
        await store(cache, "a")
        #expect(cache.body(key("a")) == [1])
        try fixture.remove(file)
        #expect(unsafe mkfifo(file, 0o600) == 0)
        #expect(cache.body(key("a")) == nil, "and opening it waited for nobody")
        #expect(cache.counters.corrupt == 1)
    }

    @Test("parents that are missing are made, and a relative path is taken from where the program began")
    func paths() async throws {
        let deep = DiskCache(folder: fixture.folder.file("x/y/z/"))
        await store(deep, "a")
        #expect(deep.body(key("a")) == [1] && deep.path == fixture.folder.file("x/y/z"))
        #expect(DiskCache.absolutePath("a/b").hasSuffix("/a/b") && DiskCache.absolutePath("a").hasPrefix("/"))
        #expect(DiskCache.absolutePath("/") == "/")
    }

    @Test("what a crash left in tmp is swept at opening, what a live process writes is not")
    func sweep() async throws {
        let cache = fixture.cache()
        await store(cache, "a")
        let (left, live) = (fixture.path + "/tmp/left", fixture.path + "/tmp/live")
        for path in [left, live] { try write([1, 2, 3], to: path) }
        try FileManager.default.createSymbolicLink(
            atPath: fixture.path + "/tmp/link", withDestinationPath: "nowhere")
        let descriptor = unsafe open(live, O_RDONLY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let next = fixture.cache()
        await next.flush()
        #expect(fixture.names(in: "tmp") == ["live"])
        flock(descriptor, LOCK_UN)
        await fixture.cache().flush()
        #expect(fixture.names(in: "tmp").isEmpty)
    }

    @Test("a file that is being written is left alone by another instance that opens the cache")
    func sweepWhileWriting() async throws {
        let gate = CallGate()
        let cache = fixture.cache(calls: gate.calls(before: .rename))
        await cache.store([1], for: key("a"))
        try await gate.reached()
        await fixture.cache().flush()
        #expect(fixture.names(in: "tmp").count == 1)
        gate.open()
        await cache.flush()
        #expect(fixture.cache().body(key("a")) == [1])
    }

    @Test("a sweep that comes between making a file and locking it costs another try and no value")
    func sweepBetween() async throws {
        let path = fixture.path
        let cache = fixture.cache(
            calls: FileCalls(interfere: { kind in
                // Plays the sweep of another process: whatever is in tmp goes before it is locked, once.
                guard kind == .lock,
                    let name = try? FileManager.default.contentsOfDirectory(atPath: path + "/tmp").first,
                    name.hasSuffix("-1")
                else { return nil }
                try? FileManager.default.removeItem(atPath: "\(path)/tmp/\(name)")
                return nil
            }))
        await store(cache, "a")
        #expect(cache.body(key("a")) == [1] && cache.counters.faults == 0)
        #expect(fixture.size(fixture.file(key("a"))) > 0)
    }

    @Test("a leftover is swept, though a program that is being started has a copy of its descriptor")
    func copiedDescriptor() async throws {
        let path = fixture.path
        let copies = Shared<[Int32]>([])
        let cache = fixture.cache(
            calls: FileCalls(interfere: { kind in
                guard kind == .rename || kind == .remove else { return nil }
                // Losing the error is right: the test finds no copies then, and fails.
                let made = (try? copiedDescriptors(ofFiles: path + "/tmp/")) ?? []
                copies.change { $0 += made }
                return .failure(EIO)
            }))
        await store(cache, "a")
        defer { for copy in copies.value { close(copy) } }
        #expect(!copies.value.isEmpty && !fixture.names(in: "tmp").isEmpty)
        await fixture.cache().flush()
        #expect(fixture.names(in: "tmp").isEmpty)
    }

    private func store(_ cache: DiskCache, _ name: String) async {
        await cache.store([1], for: key(name))
        await cache.flush()
    }
}
