import FoundationEssentials
import Glibc
import HTTPSemantics
import SystemSupport

/// Holds the bytes of one body: in memory while the budget has room, then in a file without a name. A body that can be
/// resumed moves to a partial file once it is large enough; that file outlives a transfer that breaks. A plain struct,
/// not safe for concurrent use.
struct BodyStorage {
    /// Where partial bodies are kept, and the key of this one.
    struct PartialLocation {
        let store: PartialStore
        let key: CacheKey
    }

    /// What a partial file needs to know of the answer.
    private struct Answer {
        let head: ResponseHead
        let total: Int?
        /// When the head arrived, in seconds since 1970.
        let received: Int
    }

    /// The bytes in memory.
    private(set) var bytes: [UInt8] = []
    private var spill: UnnamedFile?
    /// The body's partial file.
    private(set) var partial: PartialFile?
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

    /// Whether finishing has to read a file.
    var isInFile: Bool { partial != nil || spill != nil }

    /// Whether `keepPartial()` would write the bytes to a new partial file.
    var isWorthFile: Bool { resumable != nil && spill == nil && bytes.count >= PartialStore.smallest }

    /// Appends to an earlier partial body.
    mutating func resume(_ earlier: PartialFile) { partial = earlier }

    /// Prepares for the body of an answer.
    /// - Parameters:
    ///   - total: the length of the body; nil if unknown.
    ///   - room: how many bytes to make room for at once.
    ///   - received: when the head arrived, in seconds since 1970.
    mutating func begin(_ head: ResponseHead, total: Int?, room: Int, received: Int) {
        if partials != nil { resumable = Answer(head: head, total: total, received: received) }
        bytes.reserveCapacity(room)
    }

    mutating func append(_ more: Span<UInt8>) throws(FileFault) {
        if let partial { return try partial.append(more) }
        if let spill { return try spill.append(more) }
        if resumable != nil, let partials, bytes.count + more.count >= partials.store.minimum,
            moveToPartial(),
            let partial
        {
            return try partial.append(more)
        }
        if reservation.grow(by: more.count) {
            return unsafe more.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        }
        guard let spillFolder else { throw FileFault(kind: .write, name: "", code: ENOMEM) }
        let spill = try UnnamedFile(in: spillFolder, calls: calls)
        try spill.append(bytes.span)
        try spill.append(more)
        self.spill = spill
        freeMemory()
    }

    /// Replaces the bytes in memory.
    mutating func replace(with bytes: [UInt8]) { self.bytes = bytes }

    /// The whole body of `count` bytes; nil if its file cannot be read.
    mutating func take(count: Int) -> ImageBytes? {
        if isInFile {
            let file: (any ByteSource)? = partial?.body() ?? spill?.mapped()
            guard let file, file.count == count else { return nil }
            return ImageBytes(file)
        }
        defer { bytes = [] }
        return ImageBytes(bytes)
    }

    /// Removes the partial file: the body is refused.
    func removePartial() { partial?.remove() }

    /// Writes the bytes in memory to a partial file, if they are worth one.
    mutating func keepPartial() {
        if isWorthFile { _ = moveToPartial() }
    }

    /// Closes the partial file, so that another transfer can resume it.
    mutating func closePartial() { partial = nil }

    /// Removes the partial file by its key, once it is closed.
    func removeClosedPartial() {
        if let partials { partials.store.remove(partials.key) }
    }

    /// Moves the bytes from memory to a partial file; false if the answer cannot be resumed or the file fails.
    private mutating func moveToPartial() -> Bool {
        guard let partials, let answer = resumable.take(),
            let partial = partials.store.begin(
                answer.head, total: answer.total, of: partials.key, from: source, now: answer.received)
        else { return false }
        do {
            try partial.append(bytes.span)
        } catch {
            // The partial file has counted the fault. The body stays in memory.
            partial.remove()
            return false
        }
        self.partial = partial
        freeMemory()
        return true
    }

    private mutating func freeMemory() {
        bytes = []
        reservation.giveBack()
    }
}
