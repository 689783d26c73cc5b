import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import ServiceOperations

@Suite("FileReloader", .bounded, .ownThread)
struct FileReloaderTests {
    private struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private let reports = Shared<[FileReloader.Report]>([])
    private let count = Tally()

    private func reloader(_ files: [FileReloader.File], manager: String? = nil) -> FileReloader {
        FileReloader(files, manager: manager) { [reports, count] report in
            reports.change { $0.append(report) }
            count.add()
        }
    }

    @Test(
        "each file is read in turn, what has changed is reported, and an invalid file leaves the old content")
    func outcomes() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tokens")
        let inUse = Shared(["a"])
        let tokens = FileReloader.File("tokens") {
            let lines = try String(contentsOf: URL(filePath: path), encoding: .utf8).split(separator: "\n")
                .map(String.init)
            if lines.isEmpty { throw Fault(description: "\(path): no token") }
            let old = inUse.change { inUse in
                defer { inUse = lines }
                return inUse
            }
            let (added, removed) = (Set(lines).subtracting(old), Set(old).subtracting(lines))
            return added.isEmpty && removed.isEmpty ? nil : "\(added.count) added, \(removed.count) removed"
        }
        let reloader = reloader([tokens, FileReloader.File("keys") { nil }])
        func reload(_ content: String, _ run: Int) async throws -> [FileReloader.Report] {
            try Data(content.utf8).write(to: URL(filePath: path))
            reloader.request()
            try await count.wait(for: 2 * run)
            return Array(reports.value.suffix(2))
        }
        let keys = FileReloader.Report.done("read keys anew: nothing has changed")
        #expect(try await reload("b\nc\n", 1) == [.done("read tokens anew: 2 added, 1 removed"), keys])
        #expect(try await reload("b\nc\n", 2) == [.done("read tokens anew: nothing has changed"), keys])
        #expect(
            try await reload("", 3) == [
                .failed("tokens were not read anew: \(path): no token; the old ones stay"), keys,
            ])
        #expect(inUse.value == ["b", "c"])
    }

    @Test("requests during a run start one more run after it, never two at once")
    func again() async throws {
        let entered = Tally()
        let atOnce = Shared((now: 0, most: 0))
        let (stream, gate) = AsyncStream.makeStream(of: Void.self)
        let file = FileReloader.File("keys") {
            atOnce.change { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            entered.add()
            for await _ in stream { break }
            atOnce.change { $0.now -= 1 }
            return nil
        }
        let reloader = reloader([file])
        reloader.request()
        try await entered.wait(for: 1)
        for _ in 0..<5 { reloader.request() }
        gate.yield()
        try await entered.wait(for: 2)
        gate.yield()
        try await count.wait(for: 2)
        reloader.request()
        try await entered.wait(for: 3)
        gate.yield()
        try await count.wait(for: 3)
        #expect(entered.count == 3 && atOnce.value.most == 1)
    }

    @Test("the service manager is told of each run's begin and end, and of nothing after the stop")
    func manager() async throws {
        let folder = try TemporaryFolder()
        let name = folder.file("notify")
        let socket = try NotifySocket(name)
        let reloader = reloader([], manager: name)
        reloader.request()
        #expect(socket.message().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(socket.message() == "READY=1")
        #expect(reports.value == [.done("there is no file to read anew")])
        reloader.close()
        reloader.request()
        ServiceManager.notify(.stopping, socket: name)
        #expect(socket.message() == "STOPPING=1")
    }
}
