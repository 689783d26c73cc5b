import FoundationEssentials
import Glibc
import HTTPSemantics
import SystemSupport

/// Holds the bytes of one body: in memory while the budget has room, then in a file without a name. A body that can be
/// resumed moves to a partial file once it is large enough; that file outlives a transfer that breaks.
///
/// A plain struct, not safe for concurrent use. `BodyBuffer` keeps it under its lock. It calls the functions that use
/// the disk on a copy, without the lock.
struct BodyStorage {
    /// Where partial bodies are kept, and the key of this one.
    struct PartialLocation {
        let store: PartialStore
        let key: CacheKey
    }

    /// What a partial file needs to know of the answer.
    struct Answer {
        let head: ResponseHead
        let total: Int?
        /// When the head arrived, in seconds since 1970.
        let received: Int
    }

    /// Where a body is.
    enum Place {
        case memory
        /// In a partial file, which is still to be made. If that fails, the body stays in memory.
        indirect case newPartial(PartialLocation, Answer)
        case partial(PartialFile)
        /// In a file without a name, which is still to be made in a folder.
        case newSpill(folder: String)
        case spill(UnnamedFile)
    }

    /// The most bytes that wait for a file while the transfer continues.
    private static let waitingLimit = 256 * 1024

    /// The whole body in memory, or the bytes that wait to be written to its file.
    private(set) var bytes: [UInt8] = []
    private var place = Place.memory
    /// The answer, while its body may still move to a partial file.
    private var resumable: Answer?

    private let source: URL
    private let reservation: BodyBudget.Reservation
    private let spillFolder: String?
    private let partials: PartialLocation?
    private let calls: FileCalls

    /// - Parameters:
    ///   - source: the URL of the body.
    ///   - spillFolder: the folder for bytes beyond the budget; nil if nothing may touch the disk.
    ///   - partials: where partial bodies are kept; nil to keep none.
    ///   - calls: the system calls for files.
    init(source: URL, budget: BodyBudget, spillFolder: String?, partials: PartialLocation?, calls: FileCalls)
    {
        self.source = source
        reservation = BodyBudget.Reservation(of: budget)
        self.spillFolder = spillFolder
        self.partials = partials
        self.calls = calls
    }

    var isInMemory: Bool { if case .memory = place { true } else { false } }

    /// The body's partial file.
    var partial: PartialFile? { if case .partial(let file) = place { file } else { nil } }

    /// Whether bytes wait to be written.
    var isWaiting: Bool { !isInMemory && !bytes.isEmpty }

    /// Whether so many bytes wait, or are being written, that the transfer must pause.
    var isFull: Bool { !isInMemory && reservation.count >= Self.waitingLimit }

    /// Appends to an earlier partial body.
    mutating func resume(_ earlier: PartialFile) { place = .partial(earlier) }

    /// Prepares for the body of an answer.
    /// - Parameters:
    ///   - total: the length of the body; nil if unknown.
    ///   - room: how many bytes to make room for at once.
    ///   - received: when the head arrived, in seconds since 1970.
    mutating func start(_ head: ResponseHead, total: Int?, room: Int, received: Int) {
        if partials != nil { resumable = Answer(head: head, total: total, received: received) }
        bytes.reserveCapacity(room)
    }

    /// Adds bytes to those in memory, or to those that wait for their file.
    mutating func append(_ more: Span<UInt8>) throws(FileFault) {
        if isInMemory, let partials, bytes.count + more.count >= partials.store.minimum { moveToPartial() }
        if !reservation.grow(by: more.count), isInMemory {
            guard let spillFolder else { throw FileFault(kind: .write, name: "", code: ENOMEM) }
            place = .newSpill(folder: spillFolder)
        }
        unsafe more.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// Replaces the bytes in memory.
    mutating func replace(with bytes: [UInt8]) { self.bytes = bytes }

    /// Decides that the bytes in memory move to a partial file, if they are worth one.
    mutating func keepPartial() {
        if isInMemory, bytes.count >= PartialStore.smallest { moveToPartial() }
    }

    private mutating func moveToPartial() {
        guard let partials, let answer = resumable.take(),
            partials.store.accepts(answer.head, total: answer.total, now: answer.received)
        else { return }
        place = .newPartial(partials, answer)
    }

    /// Takes the partial file out, so that releasing it lets another transfer resume it.
    mutating func takePartial() -> PartialFile? {
        guard case .partial(let file) = place else { return nil }
        place = .memory
        return file
    }

    /// Takes all bytes out: the whole body in memory, or those to write.
    mutating func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Records the result of `write`.
    mutating func wrote(_ written: [UInt8], to place: Place) {
        self.place = place
        if isInMemory { bytes = written + bytes } else { reservation.giveBack(written.count) }
    }

    // MARK: On disk

    /// Writes bytes to the file, and makes it first if need be. Blocks.
    /// - Returns: where the body is now.
    func write(_ bytes: [UInt8]) throws(FileFault) -> Place {
        switch place {
        case .memory: return place
        case .partial(let file): try file.append(bytes.span)
        case .spill(let file): try file.append(bytes.span)
        case .newSpill(let folder):
            let file = try UnnamedFile(in: folder, calls: calls)
            try file.append(bytes.span)
            return .spill(file)
        case .newPartial(let location, let answer):
            guard
                let file = location.store.start(
                    answer.head, total: answer.total, of: location.key, from: source, now: answer.received)
            else { return .memory }
            do {
                try file.append(bytes.span)
            } catch {
                // The partial file has counted the fault.
                file.remove()
                return .memory
            }
            return .partial(file)
        }
        return place
    }

    /// The whole body in its file; nil if it cannot be read. Blocks.
    func file() -> (any ByteSource)? {
        switch place {
        case .partial(let file): file.body()
        case .spill(let file): file.mapped()
        default: nil
        }
    }

    /// Removes the partial file by its key, once it is closed. Blocks.
    func removeClosedPartial() {
        if let partials { partials.store.remove(partials.key) }
    }
}
