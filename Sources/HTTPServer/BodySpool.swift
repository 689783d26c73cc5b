import Glibc
import SystemSupport

/// Collects the body of one request: in memory while it is short, then in a file without a name.
struct BodySpool {
    /// Bytes of one body that memory keeps at most.
    static let memoryLimit = 64 << 10

    private var bytes: [UInt8] = []
    private var file: UnnamedFile?
    private let budget: BodyMemory
    private let folder: String

    /// - Parameters:
    ///   - budget: what all bodies together may take of memory.
    ///   - folder: where longer bodies go.
    init(budget: BodyMemory, folder: String) {
        self.budget = budget
        self.folder = folder
    }

    mutating func append(_ piece: ArraySlice<UInt8>) throws(FileFault) {
        if file == nil {
            if bytes.count + piece.count <= Self.memoryLimit, budget.take(piece.count) {
                bytes += piece
                return
            }
            let file = try UnnamedFile(in: folder)
            try file.append(bytes.span)
            budget.giveBack(bytes.count)
            bytes = []
            self.file = file
        }
        try file?.append(piece.span)
    }

    /// The whole body. Its memory counts no longer: it lives as long as its request.
    mutating func finish() -> RequestBody {
        defer { discard() }
        if let file { return .file(file) }
        return bytes.isEmpty ? .none : .bytes(bytes)
    }

    /// Lets go of everything.
    mutating func discard() {
        budget.giveBack(bytes.count)
        bytes = []
        file = nil
    }
}

/// The memory that bodies under way may take together, in bytes. Many slow clients could otherwise fill it.
final class BodyMemory: Sendable {
    private let free: Lock<Int>

    init(limit: Int) { free = Lock(limit) }

    /// Takes so many bytes if they are free.
    func take(_ count: Int) -> Bool {
        free.withLock { free in
            guard count <= free else { return false }
            free -= count
            return true
        }
    }

    func giveBack(_ count: Int) {
        if count > 0 { free.withLock { $0 += count } }
    }
}
