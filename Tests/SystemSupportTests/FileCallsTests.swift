import CMarqueeSystem
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import SystemSupport

@Suite("FileCalls", .bounded)
struct FileCallsTests {
    @Test("a file of another user is read, as those in /proc are for every user but root")
    func anotherUsersFile() async throws {
        let text = try await BlockingThreads(count: 1).run { () -> String? in
            // Drops root's rights for this thread only, until it ends.
            _ = setfsuid(Self.nobody)
            return (try? FileCalls().contents(ofPath: "/proc/sys/kernel/random/boot_id")).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        #expect(text?.utf8.count == 37 && text?.last == "\n")
    }

    @Test("a file longer than one read is read whole, and a missing file is reported so, in words")
    func contents() throws {
        let folder = try TemporaryFolder()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let descriptor = unsafe csystem_open(folder.file("a"), O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        try FileCalls().write(bytes, toStream: descriptor)
        #expect(try FileCalls().contents(ofPath: folder.file("a")) == bytes)
        do throws(FileFault) {
            _ = try FileCalls().contents(ofPath: folder.file("b"))
            Issue.record("the file does not exist")
        } catch {
            let reason = "cannot open \(folder.file("b")): No such file or directory"
            #expect(error.isAbsence && "\(error)" == reason && "\(error as any Error)" == reason)
        }
    }

    @Test("the name of a folder's entry is read up to its end, where the memory may end too")
    func lastEntry() async {
        await #expect(processExitsWith: .success) {
            let page = Int(sysconf(Int32(_SC_PAGESIZE)))
            let memory = try unsafe #require(
                mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
            try #require(unsafe mprotect(memory + page, page, PROT_NONE) == 0)
            // The last entry of a buffer is as long as its name needs.
            let entry = unsafe memory + page - 32
            unsafe entry.storeBytes(of: 32, toByteOffset: 16, as: UInt16.self)
            for (index, byte) in "movies.json\0".utf8.enumerated() {
                unsafe entry.storeBytes(of: byte, toByteOffset: 19 + index, as: UInt8.self)
            }
            let name = unsafe FileCalls.name(of: entry.assumingMemoryBound(to: dirent.self))
            #expect(name == Array("movies.json".utf8))
        }
    }

    @Test("writing to a full non-blocking pipe waits until there is room")
    func fullPipe() throws {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let received = Lock<[UInt8]>([])
        let isDone = Gate()
        try BlockingThreads.startThread {
            while Polling.ready([(writing, POLLOUT)], until: .now)[0] {}
            var part = [UInt8](repeating: 0, count: 4096)
            while case let count = unsafe read(reading, &part, part.count), count > 0 {
                received.withLock { $0 += part[..<count] }
            }
            isDone.open()
        }
        try FileCalls().write(bytes, toStream: writing)
        close(writing)
        isDone.wait()
        close(reading)
        #expect(received.withLock { $0 } == bytes)
    }

    private static let nobody: UInt32 = 65_534
}
