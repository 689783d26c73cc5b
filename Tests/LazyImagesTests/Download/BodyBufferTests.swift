import Coalescing
import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("BodyBuffer", .bounded)
struct BodyBufferTests {
    private let budget = BodyBudget(limit: 1000)
    private let url = "https://example.org/a"

    @Test("a spilled body leaves nothing in the folder")
    func namelessFile() async throws {
        let folder = try TemporaryFolder()
        let buffer = try buffer(spillFolder: folder.path)
        #expect(buffer.receive(ResponseHead(status: 200)))
        #expect(buffer.take([UInt8](repeating: 7, count: 2000)))
        let body = try await buffer.finish()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(body.array == [UInt8](repeating: 7, count: 2000))
    }

    @Test("a spill file that cannot be unlinked is not used")
    func failedRemoval() async throws {
        let folder = try TemporaryFolder()
        let opened = Shared(0)
        // Simulates a file system without O_TMPFILE and without unlink.
        let calls = FileCalls { kind in
            if kind == .remove { return .failure(EPERM) }
            guard kind == .open else { return nil }
            opened.change { $0 += 1 }
            return opened.value == 1 ? .failure(EOPNOTSUPP) : nil
        }
        let buffer = try buffer(spillFolder: folder.path, calls: calls)
        #expect(buffer.receive(ResponseHead(status: 200)))
        #expect(buffer.take([UInt8](repeating: 7, count: 2000)))
        await buffer.written()
        #expect(!buffer.take([7]))
        let error = ImageLoadingError.storageFailed(url: url, reason: "Operation not permitted")
        await #expect(throws: error) { _ = try await buffer.finish() }
        #expect(opened.value == 2)
    }

    @Test("on a file system without O_TMPFILE the spill file is unlinked at once")
    func withoutNamelessFiles() async throws {
        let folder = try TemporaryFolder()
        let opened = Shared(0)
        let calls = FileCalls { kind in
            guard kind == .open else { return nil }
            opened.change { $0 += 1 }
            return opened.value == 1 ? .failure(EOPNOTSUPP) : nil
        }
        let buffer = try buffer(spillFolder: folder.path, calls: calls)
        #expect(buffer.receive(ResponseHead(status: 200)))
        #expect(buffer.take([UInt8](repeating: 7, count: 2000)))
        await buffer.written()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(try await buffer.finish().array == [UInt8](repeating: 7, count: 2000))
    }

    @Test("the error says when there is no descriptor for the file")
    func noDescriptor() async throws {
        let calls = FileCalls { $0 == .open ? .failure(EMFILE) : nil }
        let buffer = try buffer(calls: calls)
        #expect(buffer.receive(ResponseHead(status: 200)))
        #expect(buffer.take([UInt8](repeating: 7, count: 2000)))
        await buffer.written()
        #expect(!buffer.take([7]))
        let error = ImageLoadingError.resourcesShort(
            url: url, reason: "the system gives no descriptor: Too many open files")
        await #expect(throws: error) { _ = try await buffer.finish() }
    }

    @Test("several bodies share one budget: one that exceeds it spills, the others stay in memory")
    func sharedBudget() async throws {
        let (first, second) = (try buffer(), try buffer())
        for buffer in [first, second] { #expect(buffer.receive(ResponseHead(status: 200))) }
        #expect(first.take([UInt8](repeating: 1, count: 600)))
        #expect(second.take([UInt8](repeating: 2, count: 600)))
        await second.written()
        #expect(budget.bytesInUse == 600)
        #expect(try await first.finish().source is ByteArray)
        #expect(try await second.finish().source is MappedFile)
    }

    @Test("a body shorter than its Content-Length is an error")
    func short() async throws {
        let buffer = try buffer()
        #expect(buffer.receive(ResponseHead(status: 200, fields: ["Content-Length": "3"])))
        #expect(buffer.take([1, 2]))
        await #expect(throws: ImageLoadingError.truncated(url: url, received: 2, expected: 3)) {
            _ = try await buffer.finish()
        }
    }

    @Test("an answer without a body, whose field has the length of another, is kept if any status is")
    func announced() async throws {
        let buffer = try buffer(keepsAnyStatus: true)
        #expect(buffer.receive(ResponseHead(status: 304, fields: ["Content-Length": "5"])))
        #expect(try await buffer.finish().array == [])
    }

    @Test("the encoding identity is accepted", arguments: ["identity", "Identity", ""])
    func identity(encoding: String) throws {
        #expect(try buffer().receive(ResponseHead(status: 200, fields: ["Content-Encoding": encoding])))
    }

    @Test("a little of an unwanted body is read, so that the connection can be reused")
    func discarded() throws {
        let buffer = try buffer()
        #expect(buffer.receive(ResponseHead(status: 404)))
        #expect(buffer.take([UInt8](repeating: 7, count: 64 * 1024)))
        #expect(!buffer.take([1]))
        #expect(budget.bytesInUse == 0)
        #expect(try !self.buffer().receive(ResponseHead(status: 302, fields: ["Content-Length": "65537"])))
    }

    private func buffer(
        spillFolder: String = "/tmp", calls: FileCalls = FileCalls(), keepsAnyStatus: Bool = false
    ) throws -> BodyBuffer {
        let source = try #require(URL(string: url))
        return BodyBuffer(
            url: source, maximumBytes: 10_000, budget: budget, spillFolder: spillFolder,
            flight: DownloadFlight { .cancelled(url: "") }, threads: BlockingThreads(count: 1), calls: calls,
            keepsAnyStatus: keepsAnyStatus)
    }
}

extension BodyBuffer {
    fileprivate func take(_ bytes: [UInt8]) -> Bool { receive(bytes.span) }
}
