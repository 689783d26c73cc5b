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

    @Test("a body is returned as it was sent")
    func plain() async throws {
        let buffer = try buffer()
        #expect(buffer.receive(ResponseHead(status: 200, fields: ["Content-Length": "6"])))
        #expect(buffer.take([1, 2, 3]))
        #expect(buffer.take([4, 5, 6]))
        #expect(try await buffer.finish().array == [1, 2, 3, 4, 5, 6])
    }

    @Test("a length over the limit is refused before the body")
    func promisedTooMuch() async throws {
        let buffer = try buffer(maximum: 10)
        #expect(!buffer.receive(ResponseHead(status: 200, fields: ["Content-Length": "11"])))
        await #expect(throws: ImageLoadingError.tooLarge(url: url, limit: 10)) {
            _ = try await buffer.finish()
        }
    }

    @Test(
        "a body over the limit is refused as its bytes arrive, whatever its Content-Length",
        arguments: [nil, "5"])
    func tooMuch(promised: String?) async throws {
        let buffer = try buffer(maximum: 10)
        var fields = HeaderFields()
        fields["Content-Length"] = promised
        #expect(buffer.receive(ResponseHead(status: 200, fields: fields)))
        #expect(buffer.take([UInt8](repeating: 1, count: 10)))
        #expect(!buffer.take([1]))
        await #expect(throws: ImageLoadingError.tooLarge(url: url, limit: 10)) {
            _ = try await buffer.finish()
        }
    }

    @Test("bytes beyond the budget spill to a file and come back byte for byte")
    func spill() async throws {
        let bytes = SampleImages.png(bytes: 5000)
        let buffer = try buffer()
        #expect(buffer.receive(ResponseHead(status: 200)))
        for start in stride(from: 0, to: bytes.count, by: 700) {
            let part = Array(bytes[start..<min(start + 700, bytes.count)])
            #expect(buffer.take(part))
            await buffer.written()
            #expect(budget.bytesInUse == (start == 0 ? 700 : 0))
        }
        let body = try await buffer.finish()
        #expect(body.source is MappedFile)
        #expect(body.array == bytes)
    }

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

    @Test("a body that fits neither in memory nor on disk is refused, with the system's reason")
    func noRoom() async throws {
        let buffer = try buffer(spillFolder: "/nowhere")
        #expect(buffer.receive(ResponseHead(status: 200)))
        #expect(buffer.take([UInt8](repeating: 7, count: 2000)))
        await buffer.written()
        #expect(!buffer.take([7]))
        let error = ImageLoadingError.storageFailed(url: url, reason: "No such file or directory")
        await #expect(throws: error) { _ = try await buffer.finish() }
    }

    @Test("a released buffer returns its bytes to the budget")
    func budgetGivenBack() throws {
        let flight = DownloadFlight { .cancelled(url: "") }
        do {
            let buffer = try buffer(flight: flight)
            #expect(buffer.receive(ResponseHead(status: 200)))
            #expect(buffer.take([UInt8](repeating: 7, count: 600)))
            #expect(budget.bytesInUse == 600)
        }
        flight.emit(.interrupted)
        #expect(budget.bytesInUse == 0)
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

    @Test("an empty body is an error", arguments: [nil, "0"])
    func empty(promised: String?) async throws {
        let buffer = try buffer()
        var fields = HeaderFields()
        fields["Content-Length"] = promised
        #expect(buffer.receive(ResponseHead(status: 200, fields: fields)))
        await #expect(throws: ImageLoadingError.empty(url: url)) { _ = try await buffer.finish() }
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

    @Test("a compressed body is refused before it arrives", arguments: ["gzip", "br", "GZIP, identity"])
    func encoded(encoding: String) async throws {
        let buffer = try buffer()
        #expect(!buffer.receive(ResponseHead(status: 200, fields: ["Content-Encoding": encoding])))
        await #expect(throws: ImageLoadingError.encodedContent(url: url, encoding: encoding)) {
            _ = try await buffer.finish()
        }
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

    @Test("progress counts the bytes of a body that is kept, from 0")
    func progress() async throws {
        let flight = DownloadFlight { .cancelled(url: "") }
        let log = ProgressLog()
        _ = flight.join(0, listener: LoadListener(log.continuation))
        let kept = try buffer(flight: flight)
        _ = kept.receive(ResponseHead(status: 200, fields: ["Content-Length": "3"]))
        _ = kept.take([1, 2])
        _ = kept.take([3])
        let discarded = try buffer(flight: flight)
        _ = discarded.receive(ResponseHead(status: 301))
        _ = discarded.take([1, 2])
        #expect(
            await log.all() == [0, 2, 3].map { TransferProgress(received: $0, expected: 3) })
    }

    private func buffer(
        maximum: Int = 10_000, spillFolder: String = "/tmp",
        flight: DownloadFlight = DownloadFlight { .cancelled(url: "") },
        calls: FileCalls = FileCalls(), keepsAnyStatus: Bool = false
    ) throws -> BodyBuffer {
        let source = try #require(URL(string: url))
        return BodyBuffer(
            url: source, maximumBytes: maximum, budget: budget,
            spillFolder: spillFolder, flight: flight, threads: BlockingThreads(count: 1), calls: calls,
            keepsAnyStatus: keepsAnyStatus)
    }
}

extension BodyBuffer {
    fileprivate func take(_ bytes: [UInt8]) -> Bool { receive(bytes.span) }
}
