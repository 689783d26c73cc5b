import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("PartialFile", .bounded)
struct PartialFileTests {
    private let folder: TemporaryFolder
    private let name = Self.named("0")

    /// A name as the hash of a key gives it.
    private static func named(_ digit: Character) -> String { String(repeating: digit, count: 64) }
    private let response = StoredResponse(
        ResponseHead(status: 200, fields: ["ETag": "\"a\""]), address: "https://example.org/a", received: 7)

    init() throws { folder = try TemporaryFolder() }

    @Test("an unknown length stays unknown")
    func unknownLength() throws {
        try write([1], total: nil)
        let file = try #require(try opened())
        #expect(file.total == nil && file.count == 1)
    }

    @Test("the last byte of a complete body is requested again, to confirm it")
    func complete() throws {
        try write([1, 2, 3], total: 3)
        #expect(try opened()?.count == 2)
        // The block that became shorter has a new checksum.
        #expect(try opened()?.count == 2)
    }

    @Test(
        "a partial file is free once its writer ends, although a starting program has a duplicate of the descriptor"
    )
    func copiedDescriptor() throws {
        var file = PartialFile.create(response, total: 10, name: name, in: try partials())
        #expect(append([1, 2, 3], to: try #require(file)))
        let copies = try duplicatedDescriptors(ofFiles: folder.file(name))
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 2)
        file = nil
        #expect(try opened()?.count == 3)
    }

    @Test("a partial body from before the last boot is not resumed")
    func otherBoot() throws {
        #expect(PartialFolder.bootIdentifier.utf8.count == 36)
        try write([1, 2, 3], total: 10)
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        try Data(text.replacing(PartialFolder.bootIdentifier, with: String(repeating: "0", count: 36)).utf8)
            .write(to: file)
        #expect(try opened() == nil)
    }

    @Test("a file cut anywhere in its header, or in another format, is not a partial file")
    func cutHeader() throws {
        try write([], total: 10)
        let whole = try Data(contentsOf: file)
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: file)
            #expect(try opened() == nil)
        }
        for text in [
            "", "\n", "MQEP 1 5 1 x\n", "MQEP 1 99999999999999999999 - x\n", "not a part of a body\n",
            "MQEP 2 a\n",
        ] {
            try Data(text.utf8).write(to: file)
            #expect(try opened() == nil)
        }
    }

    @Test("a damaged length of the whole body is no length", arguments: [Int.min, -1, 0, 1])
    func damagedTotal(total: Int) throws {
        try write([1, 2, 3], total: total)
        #expect(try opened() == nil)
        #expect(try partials().names.isEmpty)
    }

    @Test("a new body replaces the old partial body")
    func replaced() throws {
        try write([UInt8](repeating: 1, count: 5000), total: 9000)
        try write([2, 2], total: 9000)
        #expect(try opened()?.count == 2)
    }

    @Test("the oldest partial files are evicted, except one that is being written")
    func bounded() throws {
        let partials = try #require(PartialFolder(path: folder.path, limit: 3000, isForWriting: true))
        let (a, b, c) = (Self.named("a"), Self.named("b"), Self.named("c"))
        try Data("mine".utf8).write(to: URL(filePath: folder.file("others")))
        for (index, name) in [a, b, c].enumerated() {
            let file = try #require(PartialFile.create(response, total: nil, name: name, in: partials))
            #expect(append([UInt8](repeating: 0, count: 600), to: file))
            var times = [
                timespec(tv_sec: 1_700_000_000 + index, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: 0),
            ]
            times[1] = timespec(tv_sec: time(nil) - 100 + index, tv_nsec: 0)
            #expect(unsafe utimensat(AT_FDCWD, folder.file(name), times, 0) == 0)
        }
        let busy = try partials.openLocked(a, isNew: false)
        #expect(partials.makeRoom(for: 1200))
        #expect(
            try partials.calls.names(in: partials.descriptor).sorted() == [
                a, a + ".sums", c, c + ".sums", "others",
            ])
        #expect(!partials.makeRoom(for: 3001))
        _ = busy.number
    }

    @Test("checksums without a partial file are removed, those of a file that is being written are not")
    func orphans() throws {
        let partials = try partials()
        func leaveOrphan() throws {
            try Data([1, 2, 3]).write(to: URL(filePath: folder.file(Self.named("b") + ".sums")))
        }
        let a = Self.named("a")
        let busy = try #require(PartialFile.create(response, total: 9, name: a, in: partials))
        try leaveOrphan()
        #expect(partials.makeRoom(for: 1))
        #expect(partials.names.sorted() == [a, a + ".sums"])
        try leaveOrphan()
        partials.removeAll()
        #expect(partials.names.sorted() == [a, a + ".sums"])
        busy.remove()
        #expect(partials.names.isEmpty)
    }

    @Test("checksums count for the folder's limit")
    func checksumsCount() throws {
        try write([1, 2, 3], total: 10)
        let size = try [name, name + ".sums"].reduce(0) {
            try $0 + FileCalls().status(ofPath: folder.file($1)).size
        }
        for (limit, isKept) in [(size + 100, true), (size + 99, false)] {
            let partials = try #require(PartialFolder(path: folder.path, limit: limit, isForWriting: true))
            #expect(partials.makeRoom(for: 100))
            #expect(try (opened() != nil) == isKept)
        }
        #expect(try partials().names.isEmpty)
    }

    @Test(
        "a file that cannot be unlinked is copied, not mapped, so that no other process can shorten it"
    )
    func failedRemoval() throws {
        try write([1, 2, 3], total: 10)
        let faults = PartialFaults()
        let calls = FileCalls { kind in kind == .remove ? .failure(EPERM) : nil }
        let partials = try #require(
            PartialFolder(
                path: folder.path, limit: 1 << 20, isForWriting: true, calls: calls, faults: faults))
        let body = try #require(opened(in: partials)?.body())
        #expect(body is ByteArray)
        #expect(unsafe truncate(folder.file(name), 0) == 0)
        #expect(body.withBytes { [UInt8](copying: $0) } == [1, 2, 3])
        #expect(faults.counters.faults == 1)
        #expect(faults.counters.lastFault?.contains("cannot remove \(name)") == true)
    }

    @Test("a file with a second hard link is copied, not mapped")
    func secondName() throws {
        try write([1, 2, 3], total: 10)
        let file = try #require(try opened())
        #expect(unsafe link(folder.file(name), folder.file("other")) == 0)
        #expect(try #require(file.body()) is ByteArray)
    }

    @Test("each failure in the folder is counted once per reason; a missing or locked file is no failure")
    func counted() throws {
        let isBroken = Shared(true)
        let store = PartialStore(
            path: folder.file("parts"), limit: 1 << 20,
            calls: FileCalls { kind in kind == .write && isBroken.value ? .failure(EIO) : nil })
        let url = try #require(URL(string: "https://example.org/a"))
        let head = ResponseHead(status: 200, fields: ["ETag": "\"a\""])
        #expect(store.partial(of: key("a"), from: url) == nil)
        #expect(store.counters == PartialCounters())
        for _ in 0..<3 { #expect(store.start(head, total: 9, of: key("a"), from: url, now: 7) == nil) }
        #expect(store.counters.faults == 1)
        #expect(store.counters.lastFault?.contains("Input/output error") == true)
        isBroken.change { $0 = false }
        let begun = try #require(store.start(head, total: 9, of: key("a"), from: url, now: 7))
        #expect(
            store.start(head, total: 9, of: key("a"), from: url, now: 7) == nil,
            "another attempt has locked it")
        #expect(store.counters.faults == 1)
        begun.remove()
    }

    @Test("missing parent folders are created, as for a new user")
    func parents() throws {
        let store = PartialStore(path: folder.file(".cache/marquee/partial"), limit: 1 << 20)
        let url = try #require(URL(string: "https://example.org/a"))
        let head = ResponseHead(status: 200, fields: ["ETag": "\"a\""])
        #expect(store.start(head, total: 9, of: key("a"), from: url, now: 7) != nil)
    }

    private var file: URL { URL(filePath: folder.file(name)) }

    private func partials() throws -> PartialFolder {
        try #require(PartialFolder(path: folder.path, limit: 1 << 20, isForWriting: true))
    }

    private func opened(in partials: PartialFolder? = nil) throws -> PartialFile? {
        guard case .file(let file) = PartialFile.open(name: name, in: try partials ?? self.partials()) else {
            return nil
        }
        return file
    }

    private func append(_ bytes: [UInt8], to file: PartialFile) -> Bool {
        // Ignored: the tests only need to know whether it succeeded.
        (try? file.append(bytes.span)) != nil
    }

    private func write(_ bytes: [UInt8], total: Int?) throws {
        let file = try #require(PartialFile.create(response, total: total, name: name, in: partials()))
        #expect(append(bytes, to: file))
        #expect(file.count == bytes.count)
    }
}
