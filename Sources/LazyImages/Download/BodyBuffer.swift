import Coalescing
import FoundationEssentials
import HTTPSemantics
import Synchronization
import SystemSupport

/// Receives the body of one answer, within the limits. `BodyStorage` holds the bytes. `finish` throws the first error.
/// The buffer's share of the budget is free again when the buffer is released, after the callers have the body.
///
/// The writer does all work on files: jobs on `threads`, one at a time. So the transport's thread never waits for a
/// disk. While too many bytes wait for the writer, the transfer pauses. The race:
///
/// 1. The bytes that wait reach their limit. The transport asks `mayContinue`.
/// 2. Meanwhile the writer writes them.
/// 3. `mayContinue` looks at the limit and records `resume` in one section under the lock. The writer records what it
///    has written and takes `resume` in another. So either the transfer continues, or `resume` is called once.
final class BodyBuffer: BodyReceiver {
    /// The most bytes read of an unwanted body (of a redirect or an error), so that the connection can be reused.
    private static let discardLimit = 64 * 1024
    /// The most bytes reserved at once for the length that a server announces.
    private static let firstReserve = 1024 * 1024

    private struct State {
        var head: ResponseHead?
        var headTime = FileTime(nanoseconds: 0)
        var storage: BodyStorage
        /// The earlier partial body, until the head shows whether it can be resumed.
        var earlier: PartialFile?
        /// The earlier partial body, once it will not be resumed. The writer closes it, after removing it if asked to.
        var unused: (file: PartialFile, isRemoved: Bool)?
        /// Whether the body is read but not kept.
        var isDiscarded = false
        /// The bytes of the resumed partial body.
        var offset = 0
        var received = 0
        var expected: Int?
        var failure: ImageLoadingError?
        var mustRestart = false
        /// Whether the body is compressed, although the request asks for it as it is. It is decompressed at its end.
        var isCompressed = false
        /// For a body whose parts each replace the one before. The storage then has the last complete part.
        var replacing: MixedReplaceReader?
        var partNumber = 0
        var metrics: TransferMetrics?
        /// Whether the transfer has failed. The writer then closes the partial file.
        var isInterrupted = false
        /// Whether the writer has a job.
        var isWriting = false
        /// Continues the paused transfer.
        var resume: (@Sendable () -> Void)?
        /// Resumed when the writer has nothing left to do.
        var waiting: [CheckedContinuation<Void, Never>] = []

        /// Whether the transfer must wait for the writer.
        var isFull: Bool { failure == nil && storage.isFull }

        /// The writer's next step; nil for nothing.
        var step: Step? {
            if unused != nil { return .close }
            if failure == nil, storage.isWaiting { return .write }
            return isInterrupted && storage.partial != nil ? .close : nil
        }
    }

    private enum Step { case close, write }

    private let source: URL
    private let maximumBytes: Int
    private let flight: DownloadFlight
    private let keepsAnyStatus: Bool
    private let plan: ResumePlan?
    private let threads: BlockingThreads
    private let state: Lock<State>

    /// - Parameters:
    ///   - budget: the limit for bytes in memory.
    ///   - spillFolder: the folder for bytes beyond the budget; nil if nothing may touch the disk.
    ///   - flight: receives the progress of the body.
    ///   - partials: where partial bodies are kept; nil to keep none.
    ///   - earlier: the partial body of an earlier transfer. The buffer holds its lock.
    ///   - threads: run the writer.
    ///   - calls: the system calls for files.
    ///   - keepsAnyStatus: whether the body of any answer is wanted, and may be empty.
    init(
        url: URL, maximumBytes: Int, budget: BodyBudget, spillFolder: String?,
        flight: DownloadFlight,
        partials: BodyStorage.PartialLocation? = nil, earlier: PartialFile? = nil,
        threads: BlockingThreads, calls: FileCalls = FileCalls(), keepsAnyStatus: Bool = false
    ) {
        source = url
        self.maximumBytes = maximumBytes
        self.flight = flight
        self.keepsAnyStatus = keepsAnyStatus
        self.threads = threads
        plan = earlier.flatMap(ResumePlan.init)
        let storage = BodyStorage(
            source: url, budget: budget, spillFolder: spillFolder, partials: partials, calls: calls)
        state = Lock(State(storage: storage, earlier: plan == nil ? nil : earlier))
    }

    /// The fields that request the rest of a partial body; nil without one.
    var conditions: HeaderFields? { plan?.fields }

    /// The URL for messages. Computed on demand: most transfers need no message.
    private var url: String { source.displayText }

    /// The bytes of the resumed partial body; 0 for none.
    var offset: Int { state.withLock { $0.offset } }

    /// Whether the partial body cannot be resumed, and the whole body must be requested.
    var mustRestart: Bool { state.withLock { $0.mustRestart } }

    /// The head of the answer. After a resumption, as if the whole body had arrived in one answer.
    var head: ResponseHead? { state.withLock { $0.head } }

    /// Whether the whole body has arrived.
    var isWhole: Bool {
        state.withLock { state in
            !state.isDiscarded && state.failure == nil && state.received > 0
                && state.received == state.expected
        }
    }

    /// Whether HTTP says where the body ends (RFC 9112 section 6.3), so that a successful transfer has brought all of it.
    var isFramed: Bool {
        state.withLock { state in
            state.expected != nil || state.metrics?.protocolVersion == "HTTP/2"
                || state.head?.fields["transfer-encoding"]?.lowercased().contains("chunked") == true
        }
    }

    /// The bytes in memory after the first `start` ones; none for a body that is in a file or finished. A copy: sharing
    /// the array would make the next append copy all of it.
    func bytes(from start: Int) -> [UInt8] {
        state.withLock { $0.storage.isInMemory ? Array($0.storage.bytes.dropFirst(start)) : [] }
    }

    /// The last complete part of a body whose parts replace each other, and its number from 1. Nil before the first
    /// part, and for other bodies.
    var replacement: (number: Int, bytes: [UInt8])? {
        state.withLock { state in
            state.replacing == nil || state.partNumber == 0 ? nil : (state.partNumber, state.storage.bytes)
        }
    }

    /// The bytes received from the network, and the progress of the body.
    var traffic: (arrived: Int, progress: TransferProgress) {
        state.withLock { state in
            state.isDiscarded
                ? (0, TransferProgress(received: 0, expected: nil))
                : (
                    state.received - state.offset,
                    TransferProgress(received: state.received, expected: state.expected)
                )
        }
    }

    /// When the head arrived.
    var headTime: FileTime { state.withLock { $0.headTime } }

    /// How many seconds after `start` the head arrived.
    func delay(since start: FileTime) -> Int { max(0, headTime.seconds(since: start)) }

    /// The metrics, once the transfer has ended.
    var metrics: TransferMetrics? { state.withLock { $0.metrics } }

    func receive(_ metrics: TransferMetrics) { state.withLock { $0.metrics = metrics } }

    func receive(_ head: ResponseHead) -> Bool {
        let begins: TransferProgress?? = state.withLock { state in
            state.head = head
            state.headTime = .coarseNow
            if let plan, !resume(plan.verdict(on: head), with: head, in: &state) { return nil }
            let expected = head.contentLength.map { state.offset + $0 }
            guard head.isSuccessWithBody || state.storage.partial != nil || keepsAnyStatus else {
                state.isDiscarded = true
                let isShort = expected.map { $0 <= Self.discardLimit } ?? true
                return isShort ? .some(nil) : nil
            }
            switch ContentCoding(head.fields) {
            case .none: break
            case .gzip where state.offset == 0:
                state.isCompressed = true
                // The stored head is that of the decompressed body.
                for name in ["content-encoding", "content-length"] { state.head?.fields[name] = nil }
            case .gzip: state.failure = .encodedContent(url: url, encoding: "gzip")
            case .unreadable(let coding): state.failure = .encodedContent(url: url, encoding: coding)
            }
            if state.failure != nil { return nil }
            if !keepsAnyStatus { state.head?.readAsOK() }
            if head.status == 200, let type = head.fields["Content-Type"],
                let reader = MixedReplaceReader(contentType: type)
            {
                state.replacing = reader
                return TransferProgress(received: 0, expected: nil)
            }
            state.expected = expected
            if let expected, expected > maximumBytes {
                state.failure = .tooLarge(url: url, limit: maximumBytes)
                return nil
            }
            if state.storage.partial == nil {
                state.storage.start(
                    head, total: expected, room: min(expected ?? 0, Self.firstReserve),
                    received: state.headTime.seconds, isResumable: !state.isCompressed)
            }
            return TransferProgress(received: state.received, expected: expected)
        }
        guard let begins else { return false }
        if let begins { flight.emit(.progress(begins, self)) }
        return true
    }

    func mayContinue(_ resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.isFull { state.resume = resume }
            return !state.isFull
        }
    }

    func receive(_ bytes: Span<UInt8>) -> Bool {
        let report = state.withLock { state -> TransferProgress? in
            if state.failure != nil || state.isInterrupted { return nil }
            state.received += bytes.count
            if state.isDiscarded {
                return state.received <= Self.discardLimit
                    ? TransferProgress(received: 0, expected: nil) : nil
            }
            if state.replacing != nil {
                guard replace(by: bytes, in: &state) else { return nil }
                return TransferProgress(received: state.received, expected: nil)
            }
            guard state.received <= maximumBytes else {
                state.failure = .tooLarge(url: url, limit: maximumBytes)
                return nil
            }
            do throws(FileFault) {
                try state.storage.append(bytes)
            } catch {
                state.failure = failure(error)
                return nil
            }
            startWriter(&state)
            return state.failure == nil
                ? TransferProgress(received: state.received, expected: state.expected) : nil
        }
        guard let report else { return false }
        if report.received > 0 { flight.emit(.progress(report, self)) }
        return true
    }

    /// The body, after a successful transfer. Waits for the writer.
    /// - Throws: an error on the way; `.empty`; `.truncated` if the body is shorter than announced.
    func finish() async throws(ImageLoadingError) -> ImageBytes {
        await written()
        do throws(ImageLoadingError) {
            let bytes =
                if let bytes = try bytesInMemory() { ImageBytes(bytes) } else { try await bytesInFile() }
            return state.withLock(\.isCompressed) ? try await decompressed(bytes) : bytes
        } catch {
            await interrupt(keepsSmall: true)
            throw error
        }
    }

    /// The whole body if it is in memory; nil if it is in a file.
    /// - Throws: the reason why it is not whole.
    @inline(never)
    private func bytesInMemory() throws(ImageLoadingError) -> [UInt8]? {
        try state.withLock { state throws(ImageLoadingError) in
            try check(state)
            return state.storage.isInMemory ? state.storage.takeBytes() : nil
        }
    }

    private func bytesInFile() async throws(ImageLoadingError) -> ImageBytes {
        try await threads.run({ ImageLoadingError($0, url: url) }) { [self] () throws(ImageLoadingError) in
            let (storage, count) = state.withLock { ($0.storage, $0.received) }
            guard let file = storage.file(), file.count == count else {
                throw .storageFailed(url: url, reason: "its temporary file cannot be read")
            }
            return ImageBytes(file)
        }
    }

    private func decompressed(_ body: ImageBytes) async throws(ImageLoadingError) -> ImageBytes {
        try await threads.run({ ImageLoadingError($0, url: url) }) { [self] () throws(ImageLoadingError) in
            let outcome = body.withBytes { bytes in
                Result { () throws(Gzip.Fault) in try Gzip.decompress(bytes, limit: maximumBytes) }
            }
            switch outcome {
            case .success([]): throw .empty(url: url)
            case .success(let bytes): return ImageBytes(bytes)
            case .failure(.tooLarge): throw .tooLarge(url: url, limit: maximumBytes)
            case .failure(let fault): throw .malformedResponse(url: url, reason: "\(fault)")
            }
        }
    }

    /// Throws the reason why the body is not whole.
    private func check(_ state: State) throws(ImageLoadingError) {
        if let failure = state.failure { throw failure }
        if state.received == 0 {
            if keepsAnyStatus { return }
            throw .empty(url: url)
        }
        let lacksPart = state.replacing != nil && state.partNumber == 0
        guard !lacksPart, state.received >= state.expected ?? 0 else {
            throw .truncated(url: url, received: state.received, expected: state.expected)
        }
    }

    /// Ends a failed transfer. Keeps the partial body for the next attempt. Returns when that is done; at once if the
    /// transfer was paused, since the disk lags then.
    /// - Parameter keepsSmall: whether to keep a partial body that is not in a file yet.
    func interrupt(keepsSmall: Bool) async {
        if !markInterrupted(keepsSmall: keepsSmall) { await written() }
    }

    /// - Returns: whether the transfer was paused.
    @inline(never)
    private func markInterrupted(keepsSmall: Bool) -> Bool {
        state.withLock { state in
            state.isInterrupted = true
            if let earlier = state.earlier.take() { state.unused = (earlier, false) }
            if keepsSmall, state.failure == nil { state.storage.keepPartial() }
            startWriter(&state)
            return state.resume.take() != nil
        }
    }

    // MARK: The writer

    /// Returns when the writer has nothing left to do.
    func written() async {
        guard state.withLock(\.isWriting) else { return }
        await withCheckedContinuation { continuation in
            let isWriting = state.withLock { state in
                if state.isWriting { state.waiting.append(continuation) }
                return state.isWriting
            }
            if !isWriting { continuation.resume() }
        }
    }

    /// Queues the writer's next job, if there is a step and no job yet. Called under the lock.
    private func startWriter(_ state: inout State) {
        guard !state.isWriting, state.step != nil else { return }
        do {
            try threads.enqueue { self.work() }
            state.isWriting = true
        } catch {
            state.failure = ImageLoadingError(error, url: url)
        }
    }

    /// One job of the writer: one step, so that the bodies take turns.
    private func work() {
        switch state.withLock(\.step) {
        case .write: write()
        case .close: close()
        case nil: break
        }
        let waiting = state.withLock { state in
            state.isWriting = false
            startWriter(&state)
            guard !state.isWriting else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Writes the bytes that wait.
    private func write() {
        let (storage, bytes) = state.withLock { ($0.storage, $0.storage.takeBytes()) }
        let result = Result { () throws(FileFault) in try storage.write(bytes) }
        let resume = state.withLock { state in
            switch result {
            case .success(let place): state.storage.wrote(bytes, to: place)
            case .failure(let fault): state.failure = state.failure ?? failure(fault)
            }
            return state.isFull ? nil : state.resume.take()
        }
        resume?()
    }

    /// Closes a partial file, so that another transfer can resume it.
    private func close() {
        releasePartial()
        // `ImageLoader.remove` could not remove the partial body while it was locked here.
        if !flight.isCurrent { state.withLock(\.storage).removeClosedPartial() }
    }

    /// Closes a partial file. First removes its name if nobody may resume it. The file is closed when this returns.
    private func releasePartial() {
        let (file, isRemoved) = state.withLock { state in
            state.unused.take() ?? (state.storage.takePartial(), state.failure != nil)
        }
        if isRemoved { file?.remove() }
    }

    // MARK: Where the bytes are

    /// Handles the answer to a request for the rest. False if its body is not wanted.
    private func resume(
        _ verdict: ResumePlan.Verdict, with head: ResponseHead, in state: inout State
    ) -> Bool {
        guard let earlier = state.earlier.take() else { return true }
        switch verdict {
        case .resumes:
            state.head = earlier.response.confirmed(by: head)
            state.storage.resume(earlier)
            state.offset = earlier.count
            state.received = earlier.count
        case .cannotResume, .restarts: state.unused = (earlier, true)
        case .isUnrelated: state.unused = (earlier, false)
        }
        startWriter(&state)
        state.mustRestart = verdict == .cannotResume
        return !state.mustRestart
    }

    /// Takes bytes of a body whose parts replace each other. Keeps only the last complete part and the bytes of the
    /// next. No tier stores such a body.
    private func replace(by bytes: Span<UInt8>, in state: inout State) -> Bool {
        let part = state.replacing?.append(bytes)
        let held = state.replacing?.held ?? 0
        guard held <= maximumBytes, part.map({ $0.body.count <= maximumBytes }) ?? true else {
            state.failure = .tooLarge(url: url, limit: maximumBytes)
            return false
        }
        guard let part else { return true }
        state.storage.replace(with: part.body)
        state.partNumber += 1
        state.head?.fields["Content-Type"] = part.contentType
        state.head?.fields["Cache-Control"] = "no-store"
        return true
    }

    /// The error for a fault of the disk.
    private func failure(_ fault: FileFault) -> ImageLoadingError {
        if let shortage = ResourceShortage(code: fault.code), shortage.missing == .descriptor {
            return ImageLoadingError(shortage, url: url)
        }
        return .storageFailed(url: url, reason: SystemError.text(fault.code))
    }
}

/// What a body is coded with, after requests that forbid it.
private enum ContentCoding {
    /// Nothing, or a word that is no coding: buckets have `base64`, `utf-8` and `aws-chunked` over plain bytes. Unknown
    /// codings are passed on (Fetch standard, "handle content codings").
    case none
    case gzip
    /// A known coding that only a library could undo.
    case unreadable(String)

    init(_ fields: HeaderFields) {
        let codings = FieldList.members(of: fields.values(of: "content-encoding")).map { $0.lowercased() }
        let known = codings.filter { ["gzip", "x-gzip", "br", "zstd", "deflate", "compress"].contains($0) }
        switch known {
        case []: self = .none
        case ["gzip"], ["x-gzip"]: self = .gzip
        default: self = .unreadable(known.joined(separator: ", "))
        }
    }
}

extension ResponseHead {
    /// Whether it brings the resource (RFC 9110 sections 15.1 and 15.3): 200, 201, 203, or a success that is not known.
    fileprivate var isSuccessWithBody: Bool {
        (200...299).contains(status) && ![202, 204, 205, 206].contains(status)
    }

    /// Makes it a 200 if it brings the resource. Such an answer is stored only for as long as it says.
    fileprivate mutating func readAsOK() {
        guard isSuccessWithBody, status != 200 else { return }
        status = 200
        if CacheKind.shared.control(fields).maxAge == nil, fields["expires"] == nil {
            fields["Cache-Control"] = "no-store"
        }
    }
}

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
    ///   - isResumable: whether a part of the body is of use.
    mutating func start(
        _ head: ResponseHead, total: Int?, room: Int, received: Int, isResumable: Bool = true
    ) {
        if partials != nil, isResumable { resumable = Answer(head: head, total: total, received: received) }
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
    fileprivate mutating func keepPartial() {
        if isInMemory, bytes.count >= PartialStore.smallest { moveToPartial() }
    }

    private mutating func moveToPartial() {
        guard let partials, let answer = resumable.take(),
            partials.store.accepts(answer.head, total: answer.total, now: answer.received)
        else { return }
        place = .newPartial(partials, answer)
    }

    /// Takes the partial file out, so that releasing it lets another transfer resume it.
    fileprivate mutating func takePartial() -> PartialFile? {
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
        case .spill(let file): MappedFile(descriptor: file.descriptor.number, count: file.count)
        default: nil
        }
    }

    /// Removes the partial file by its key, once it is closed. Blocks.
    fileprivate func removeClosedPartial() {
        if let partials { partials.store.remove(partials.key) }
    }
}

/// Limits the bytes of bodies in memory, for all transfers of one downloader.
final class BodyBudget: Sendable {
    private let limit: Int
    private let used = Atomic(0)

    init(limit: Int) { self.limit = limit }

    /// Bytes reserved now.
    var bytesInUse: Int { used.load(ordering: .relaxed) }

    /// One body's share of the budget, given back when the object is released.
    final class Reservation: Sendable {
        private let budget: BodyBudget
        private let reserved = Atomic(0)

        init(of budget: BodyBudget) { self.budget = budget }

        deinit { giveBack(count) }

        /// Bytes reserved now.
        var count: Int { reserved.load(ordering: .relaxed) }

        /// Reserves `more` bytes, even beyond the limit.
        /// - Returns: whether the budget had so many left.
        func grow(by more: Int) -> Bool {
            reserved.add(more, ordering: .relaxed)
            return budget.used.add(more, ordering: .relaxed).newValue <= budget.limit
        }

        /// Gives bytes back.
        func giveBack(_ count: Int) {
            reserved.subtract(count, ordering: .relaxed)
            budget.used.subtract(count, ordering: .relaxed)
        }
    }
}

/// A file mapped into memory, until the object is released. `@unchecked` is safe: nothing changes after `init`. The
/// mapping is private, and the file has no name by which another process could truncate it.
@safe package final class MappedFile: ByteSource, @unchecked Sendable {
    private let start: UnsafeMutableRawPointer
    private let skipped: Int
    package let count: Int

    /// Maps `count` bytes of the open file `descriptor`, after the first `skipped` ones; nil if the system cannot.
    init?(descriptor: Int32, count: Int, skipping skipped: Int = 0) {
        guard count > 0, let start = unsafe mmap(nil, skipped + count, PROT_READ, MAP_PRIVATE, descriptor, 0),
            unsafe start != MAP_FAILED
        else { return nil }
        unsafe self.start = start
        self.skipped = skipped
        self.count = count
    }

    deinit { unsafe munmap(start, skipped + count) }

    package func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try body(
            unsafe UnsafeRawBufferPointer(start: start + skipped, count: count)
                .assumingMemoryBound(to: UInt8.self).span
        )
    }
}
