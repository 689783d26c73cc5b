import FoundationEssentials
import Glibc
import SystemSupport

/// Takes the body of one answer, within the limits: in memory as long as the budget has room, then in a file; a large one
/// that could be gone on with is in a file of its own from the beginning. What it refuses it remembers, and `finish`
/// throws it. Its part of the budget is free again when the object goes, which is when the body has reached those who wait
/// for it.
final class BodyBuffer: BodyReceiver {
    /// How much of a body that nobody wants (of a redirect, of an error) is read so that the connection can be kept.
    private static let discardLimit = 64 * 1024
    /// How much room is made at once for a length that is only promised.
    private static let firstReserve = 1024 * 1024

    private struct State {
        enum Disposition { case keep, discard }

        var disposition = Disposition.keep
        var head: ResponseHead?
        var headTime = FileTime(nanoseconds: 0)
        var bytes: [UInt8] = []
        var spill: UnnamedFile?
        /// What is to be gone on with, until the head tells whether it can be.
        var earlier: PartialFile?
        /// The body's own file, which outlives a transfer that breaks.
        var part: PartialFile?
        var mayHavePart = false
        /// How many bytes an earlier transfer had brought.
        var offset = 0
        var received = 0
        var expected: Int?
        var failure: ImageLoadingError?
        var mustAskAnew = false
        /// For a body whose parts each replace the one before it; then `bytes` are those of the last whole one.
        var replacing: MixedReplaceReader?
        var partNumber = 0
        var metrics: TransferMetrics?
    }

    private let source: URL
    private let maximumBytes: Int
    private let spillFolder: String?
    private let calls: FileCalls
    private let reservation: BodyBudget.Reservation
    private let transfer: SharedTask<LoadedFile>
    private let parts: Parts?
    private let keepsAnyStatus: Bool
    private let plan: ResumePlan?
    private let state: Lock<State>

    /// Where to leave a part of what was asked for by a key.
    struct Parts {
        let store: PartialStore
        let key: CacheKey
    }

    /// - Parameters:
    ///   - transfer: is told how far the body is.
    ///   - spillFolder: where what exceeds the budget goes; nil if nothing may touch the disk.
    ///   - parts: where to leave a part; nil if none is to be left.
    ///   - earlier: what an earlier transfer left. It is locked until it is let go of here.
    ///   - calls: the calls of the system for files.
    ///   - keepsAnyStatus: whether the body of any answer is wanted, and may be empty.
    init(
        url: URL, maximumBytes: Int, budget: BodyBudget, spillFolder: String?,
        transfer: SharedTask<LoadedFile>,
        parts: Parts? = nil, earlier: PartialFile? = nil, calls: FileCalls = FileCalls(),
        keepsAnyStatus: Bool = false
    ) {
        source = url
        self.maximumBytes = maximumBytes
        self.spillFolder = spillFolder
        self.calls = calls
        reservation = BodyBudget.Reservation(of: budget)
        self.transfer = transfer
        self.parts = parts
        self.keepsAnyStatus = keepsAnyStatus
        plan = earlier.flatMap(ResumePlan.init)
        state = Lock(State(earlier: plan == nil ? nil : earlier))
    }

    /// The fields that ask for the rest of what there is, if there is something.
    var conditions: HTTPFields? { plan?.fields }

    /// The URL for messages. Made when it is needed: most transfers need none.
    private var url: String { source.displayText }

    /// How many bytes an earlier transfer had brought: 0 unless this one went on with them.
    var offset: Int { state.withLock { $0.offset } }

    /// Whether the part that was to be gone on with is of no use, and all is to be asked for.
    var mustAskAnew: Bool { state.withLock { $0.mustAskAnew } }

    /// The answer's head: where a part was gone on with, as if all had come now.
    var head: ResponseHead? { state.withLock { $0.head } }

    /// Whether all that the head promised is there.
    var isWhole: Bool {
        state.withLock { state in
            state.disposition == .keep && state.failure == nil && state.received > 0
                && state.received == state.expected
        }
    }

    /// What has arrived behind the first `start` bytes, as far as it is in memory: nothing of a body that is in a file, or
    /// that has ended. A copy, since who shared the bytes would make the next ones copy all.
    func bytes(from start: Int) -> [UInt8] { state.withLock { Array($0.bytes.dropFirst(start)) } }

    /// The last whole part of a body whose parts each replace the one before it, and its number from 1; nil before the first
    /// one, and for every other body.
    var replacement: (number: Int, bytes: [UInt8])? {
        state.withLock { state in
            state.replacing == nil || state.partNumber == 0 ? nil : (state.partNumber, state.bytes)
        }
    }

    /// When the head came.
    var headTime: FileTime { state.withLock { $0.headTime } }

    /// What was measured, once the transfer has ended.
    var metrics: TransferMetrics? { state.withLock { $0.metrics } }

    func receive(_ metrics: TransferMetrics) { state.withLock { $0.metrics = metrics } }

    func receive(_ head: ResponseHead) -> Bool {
        let begins: TransferProgress?? = state.withLock { state in
            state.head = head
            state.headTime = .coarseNow
            if let plan, !goOn(plan.verdict(on: head), with: head, in: &state) { return nil }
            let expected = head.contentLength.map { state.offset + $0 }
            guard head.status == 200 || state.part != nil || keepsAnyStatus else {
                state.disposition = .discard
                let isShort = expected.map { $0 <= Self.discardLimit } ?? true
                return isShort ? .some(nil) : nil
            }
            if let encoding = head.fields["content-encoding"], !encoding.isEmpty,
                !encoding.equalsIgnoringCase("identity")
            {
                state.failure = .encodedContent(url: url, encoding: encoding)
                return nil
            }
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
            if state.part == nil {
                state.mayHavePart = parts != nil
                state.bytes.reserveCapacity(min(expected ?? 0, Self.firstReserve))
            }
            return TransferProgress(received: state.received, expected: expected)
        }
        guard let begins else { return false }
        if let begins { transfer.tell(.progress(begins, self)) }
        return true
    }

    func receive(_ bytes: Span<UInt8>) -> Bool {
        let report = state.withLock { state -> TransferProgress? in
            state.received += bytes.count
            switch state.disposition {
            case .discard:
                return state.received <= Self.discardLimit
                    ? TransferProgress(received: 0, expected: nil) : nil
            case .keep where state.replacing != nil:
                guard replace(by: bytes, in: &state) else { return nil }
                return TransferProgress(received: state.received, expected: nil)
            case .keep:
                guard state.received <= maximumBytes else {
                    state.failure = .tooLarge(url: url, limit: maximumBytes)
                    return nil
                }
                do throws(FileFault) {
                    try keep(bytes, in: &state)
                } catch {
                    state.failure = failure(error)
                    return nil
                }
                return TransferProgress(received: state.received, expected: state.expected)
            }
        }
        guard let report else { return false }
        if report.received > 0 { transfer.tell(.progress(report, self)) }
        return true
    }

    /// The body, once the transfer has ended well.
    /// - Throws: what was refused on the way; `.empty`; `.truncated` if fewer bytes came than were promised.
    func finish() throws(ImageLoadingError) -> ImageBytes {
        let outcome: Result<ImageBytes, ImageLoadingError> = state.withLock { state in
            if let failure = state.failure {
                state.part?.remove()
                return .failure(failure)
            }
            if state.received == 0 {
                return keepsAnyStatus ? .success(ImageBytes([])) : .failure(.empty(url: url))
            }
            if state.replacing != nil, state.partNumber == 0 {
                return .failure(.truncated(url: url, received: state.received, expected: nil))
            }
            if let expected = state.expected, state.received < expected {
                breakOff(&state, keepsSmall: true)
                return .failure(.truncated(url: url, received: state.received, expected: expected))
            }
            if state.part != nil || state.spill != nil {
                let file: (any ByteSource)? = state.part?.body() ?? state.spill?.mapped()
                guard let file, file.count == state.received else {
                    return .failure(
                        .storageFailed(url: url, reason: "its file in the temporary folder cannot be read"))
                }
                return .success(ImageBytes(file))
            }
            defer { state.bytes = [] }
            return .success(ImageBytes(state.bytes))
        }
        return try outcome.get()
    }

    /// The transfer has failed: what there is is left for the next one to go on with.
    /// - Parameter keepsSmall: whether a part that is not in a file yet is worth one.
    func breakOff(keepsSmall: Bool) { state.withLock { breakOff(&$0, keepsSmall: keepsSmall) } }

    // MARK: Away from the cooperative pool

    /// As `finish()`, on `threads` where it has to wait for the disk.
    func finish(on threads: BlockingThreads) async throws(ImageLoadingError) -> ImageBytes {
        guard waitsForDisk(keepsSmall: isShort) else { return try finish() }
        let outcome: Result<ImageBytes, ImageLoadingError>
        do {
            outcome = try await threads.run {
                Result { () throws(ImageLoadingError) in try self.finish() }
            }
        } catch {
            throw ImageLoadingError(error, url: url)
        }
        return try outcome.get()
    }

    /// As `breakOff(keepsSmall:)`, on `threads` where it has to wait for the disk.
    func breakOff(keepsSmall: Bool, on threads: BlockingThreads) async {
        guard waitsForDisk(keepsSmall: keepsSmall) else { return breakOff(keepsSmall: keepsSmall) }
        // Losing the error is right: without a thread the part is closed as it is when this object goes.
        try? await threads.run { self.breakOff(keepsSmall: keepsSmall) }
    }

    private var isShort: Bool { state.withLock { $0.received < $0.expected ?? 0 } }

    private func waitsForDisk(keepsSmall: Bool) -> Bool {
        state.withLock { state in
            state.part != nil || state.spill != nil || state.earlier != nil
                || keepsSmall && state.mayHavePart && state.bytes.count >= PartialStore.smallest
        }
    }

    // MARK: Where the bytes are

    /// Does what an answer to a request for the rest means. False: nothing of it is wanted.
    private func goOn(
        _ verdict: ResumePlan.Verdict, with head: ResponseHead, in state: inout State
    ) -> Bool {
        guard let earlier = state.earlier.take() else { return true }
        switch verdict {
        case .goesOn:
            state.head = earlier.response.confirmed(by: head)
            state.part = earlier
            state.offset = earlier.count
            state.received = earlier.count
        case .asksAnew:
            state.mustAskAnew = true
            earlier.remove()
            return false
        case .beginsAnew: earlier.remove()
        case .isUnrelated: break
        }
        return true
    }

    /// Puts the bytes where there is room.
    private func keep(_ bytes: Span<UInt8>, in state: inout State) throws(FileFault) {
        if let part = state.part { return try part.append(bytes) }
        if let spill = state.spill { return try spill.append(bytes) }
        if state.mayHavePart, let parts, state.received >= parts.store.minimum, let part = beginPart(&state) {
            return try part.append(bytes)
        }
        if reservation.grow(by: bytes.count) {
            return unsafe bytes.withUnsafeBufferPointer { unsafe state.bytes.append(contentsOf: $0) }
        }
        guard let spillFolder else { throw FileFault(kind: .write, name: "", code: ENOMEM) }
        let spill = try UnnamedFile(in: spillFolder, calls: calls)
        try spill.append(state.bytes.span)
        try spill.append(bytes)
        state.spill = spill
        empty(&state)
    }

    /// Takes bytes of a body whose parts each replace the one before it. Only the last whole one is held, and what has come of
    /// the next; no tier stores it.
    private func replace(by bytes: Span<UInt8>, in state: inout State) -> Bool {
        let part = state.replacing?.append(bytes)
        let held = state.replacing?.held ?? 0
        guard held <= maximumBytes, part.map({ $0.body.count <= maximumBytes }) ?? true else {
            state.failure = .tooLarge(url: url, limit: maximumBytes)
            return false
        }
        guard let part else { return true }
        (state.bytes, state.partNumber) = (part.body, state.partNumber + 1)
        state.head?.fields["Content-Type"] = part.contentType
        state.head?.fields["Cache-Control"] = "no-store"
        return true
    }

    /// Why the body cannot be kept.
    private func failure(_ fault: FileFault) -> ImageLoadingError {
        if let shortage = ResourceShortage(code: fault.code), shortage.missing == .descriptor {
            return ImageLoadingError(shortage, url: url)
        }
        return .storageFailed(url: url, reason: SystemError.text(fault.code))
    }

    /// Moves what there is from memory to a file of its own, if the answer can be gone on with.
    private func beginPart(_ state: inout State) -> PartialFile? {
        state.mayHavePart = false
        guard let head = state.head, let parts,
            let part = parts.store.begin(
                head, total: state.expected, of: parts.key, from: source, now: state.headTime.seconds)
        else { return nil }
        do {
            try part.append(state.bytes.span)
        } catch {
            // The folder has counted it. The body goes elsewhere.
            part.remove()
            return nil
        }
        state.part = part
        empty(&state)
        return part
    }

    private func breakOff(_ state: inout State, keepsSmall: Bool) {
        if state.failure != nil {
            state.part?.remove()
        } else if keepsSmall, state.mayHavePart, state.spill == nil,
            state.bytes.count >= PartialStore.smallest
        {
            _ = beginPart(&state)
        }
        let hadPart = state.part != nil || state.earlier != nil
        // Closed, so that the next one can have it.
        state.part = nil
        state.earlier = nil
        // Whoever removed the image could not remove the part while it was locked here.
        if hadPart, transfer.isForgotten, let parts { parts.store.remove(parts.key) }
    }

    private func empty(_ state: inout State) {
        state.bytes = []
        reservation.giveBack()
    }
}
