import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("Watched folders", .bounded)
struct FolderWatchTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    @Test("a file that is added, written, renamed or removed is a change, also in a new folder inside")
    func changes() async throws {
        let changes = Lock(0)
        let watch = try FolderWatch(home.path) { changes.withLock { $0 += 1 } }
        func isSeen(_ change: () throws -> Void) async throws {
            let before = changes.withLock { $0 }
            try change()
            try await eventually { changes.withLock { $0 } > before }
        }
        let files = FileManager.default
        try await isSeen { try Data([1]).write(to: URL(filePath: home.file("a"))) }
        try await isSeen { try files.removeItem(atPath: home.file("a")) }
        try await isSeen {
            try files.createDirectory(atPath: home.file("inside"), withIntermediateDirectories: true)
        }
        try await isSeen { try Data([1]).write(to: URL(filePath: home.file("inside/b"))) }
        try await isSeen { try Data([2]).write(to: URL(filePath: home.file("inside/b"))) }
        try await isSeen { try files.moveItem(atPath: home.file("inside/b"), toPath: home.file("inside/c")) }
        _ = watch
    }
}
