import Glibc
import SystemSupport

/// Collects the body of one request: in memory while it is short, then in an unnamed file.
struct BodySpool {
    /// The most bytes of one body in memory.
    static let memoryLimit = 64 << 10

    private var bytes: [UInt8] = []
    private var file: UnnamedFile?
    private let budget: BodyMemory
    private let folder: String

    /// - Parameters:
    ///   - budget: the memory that all bodies share.
    ///   - folder: the folder for longer bodies.
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
            // As long as the client sends, the file is open.
            guard file.descriptor.number < DescriptorPlaces.ofProcess.files else {
                throw FileFault(kind: .open, name: folder, code: EMFILE)
            }
            try file.append(bytes.span)
            budget.giveBack(bytes.count)
            bytes = []
            self.file = file
        }
        try file?.append(piece.span)
    }

    /// The whole body. Its memory no longer counts against the budget; the request owns it.
    mutating func finish() -> RequestBody {
        defer { discard() }
        if let file { return .file(file) }
        return bytes.isEmpty ? .none : .bytes(bytes)
    }

    /// Frees the memory or the file.
    mutating func discard() {
        budget.giveBack(bytes.count)
        bytes = []
        file = nil
    }
}

/// The memory that all bodies being received share, in bytes. Without this limit, many slow clients could fill the
/// memory.
final class BodyMemory: Sendable {
    private let free: Lock<Int>

    init(limit: Int) { free = Lock(limit) }

    /// Takes this many bytes, if they are free.
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
