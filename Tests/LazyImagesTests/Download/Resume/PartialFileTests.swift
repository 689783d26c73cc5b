import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import LazyImages

@Suite("PartialFile", .timeLimit(.minutes(10)))
struct PartialFileTests {
    private let folder: TemporaryFolder
    private let name = "part"
    private let response = StoredResponse(
        ResponseHead(status: 200, fields: ["ETag": "\"a\""]), address: "https://example.org/a", received: 7)

    init() throws { folder = try TemporaryFolder() }

    @Test("what was written is there for the next one, with its answer and its length")
    func roundTrip() throws {
        try write([1, 2, 3], total: 10)
        let file = try #require(PartialFile.opening(name: name, in: partials()))
        #expect(file.count == 3 && file.total == 10 && file.response == response)
        #expect(append([4, 5], to: file))
        let mapped = try #require(file.mapped())
        #expect(mapped.withBytes { [UInt8](copying: $0) } == [1, 2, 3, 4, 5])
        #expect(try partials().calls.names(in: partials().descriptor).isEmpty)
    }

    @Test("a length that is not known stays so")
    func unknownLength() throws {
        try write([1], total: nil)
        let file = try #require(PartialFile.opening(name: name, in: partials()))
        #expect(file.total == nil && file.count == 1)
    }

    @Test("of a body that is all there the last byte is asked for again, so that it is confirmed")
    func complete() throws {
        try write([1, 2, 3], total: 3)
        #expect(PartialFile.opening(name: name, in: try partials())?.count == 2)
    }

    @Test("two do not write one file")
    func locked() throws {
        let first = try #require(
            PartialFile.beginning(response, total: 3, name: name, in: partials()))
        #expect(PartialFile.beginning(response, total: 3, name: name, in: try partials()) == nil)
        #expect(PartialFile.opening(name: name, in: try partials()) == nil)
        #expect(append([1], to: first))
    }

    @Test("a part is free once its writer ends, though a program being started has its descriptor")
    func copiedDescriptor() throws {
        var file = PartialFile.beginning(response, total: 10, name: name, in: try partials())
        #expect(append([1, 2, 3], to: try #require(file)))
        let copies = try copiedDescriptors(ofFiles: folder.file(name))
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        file = nil
        #expect(PartialFile.opening(name: name, in: try partials())?.count == 3)
    }

    @Test("a part from before another start of the system is not gone on with")
    func otherBoot() throws {
        #expect(PartialFolder.bootIdentifier.utf8.count == 36)
        try write([1, 2, 3], total: 10)
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        try Data(text.replacing(PartialFolder.bootIdentifier, with: String(repeating: "0", count: 36)).utf8)
            .write(to: file)
        #expect(PartialFile.opening(name: name, in: try partials()) == nil)
    }

    @Test("a file cut anywhere in its header, or of another kind, is none")
    func cutHeader() throws {
        try write([], total: 10)
        let whole = try Data(contentsOf: file)
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: file)
            #expect(PartialFile.opening(name: name, in: try partials()) == nil)
        }
        for text in [
            "", "\n", "MQEP 1 5 1 x\n", "MQEP 1 99999999999999999999 - x\n", "not a part of a body\n",
        ] {
            try Data(text.utf8).write(to: file)
            #expect(PartialFile.opening(name: name, in: try partials()) == nil)
        }
    }

    @Test("a new body replaces the old one's part")
    func replaced() throws {
        try write([UInt8](repeating: 1, count: 5000), total: 9000)
        try write([2, 2], total: 9000)
        #expect(PartialFile.opening(name: name, in: try partials())?.count == 2)
    }

    @Test("the oldest parts make room, but not one that is being written")
    func bounded() throws {
        let partials = try #require(PartialFolder(path: folder.path, limit: 3000, isForWriting: true))
        for (index, name) in ["a", "b", "c"].enumerated() {
            let file = try #require(PartialFile.beginning(response, total: nil, name: name, in: partials))
            #expect(append([UInt8](repeating: 0, count: 600), to: file))
            var times = [
                timespec(tv_sec: 1_700_000_000 + index, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: 0),
            ]
            times[1] = timespec(tv_sec: time(nil) - 100 + index, tv_nsec: 0)
            #expect(unsafe utimensat(AT_FDCWD, folder.file(name), times, 0) == 0)
        }
        let busy = try partials.openLocked("a", isNew: false)
        #expect(partials.makeRoom(for: 1200))
        #expect(try partials.calls.names(in: partials.descriptor).sorted() == ["a", "c"])
        #expect(!partials.makeRoom(for: 3001))
        _ = busy.number
    }

    private var file: URL { URL(filePath: folder.file(name)) }

    private func partials() throws -> PartialFolder {
        try #require(PartialFolder(path: folder.path, limit: 1 << 20, isForWriting: true))
    }

    private func append(_ bytes: [UInt8], to file: PartialFile) -> Bool { file.append(bytes.span) }

    private func write(_ bytes: [UInt8], total: Int?) throws {
        let file = try #require(PartialFile.beginning(response, total: total, name: name, in: partials()))
        #expect(append(bytes, to: file))
        #expect(file.count == bytes.count)
    }
}
