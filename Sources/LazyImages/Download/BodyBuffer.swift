import FoundationEssentials
import Glibc
import SystemSupport

/// Receives the body of one answer, within the limits. `BodyStorage` holds the bytes. An error on the way is thrown by
/// `finish`. The buffer's share of the budget is free again when the buffer is released, which is when the body has
/// reached the callers.
final class BodyBuffer: BodyReceiver {
    /// How much of a body that nobody wants (of a redirect, of an error) is read so that the connection can be kept.
    private static let discardLimit = 64 * 1024
    /// How much room is made at once for a length that is only promised.
    private static let firstReserve = 1024 * 1024

    private struct State {
        var head: ResponseHead?
        var headTime = FileTime(nanoseconds: 0)
        var storage: BodyStorage
        /// The earlier partial body, until the head shows whether it can be resumed.
        var earlier: PartialFile?
        /// Whether the body is read but not kept.
        var isDiscarded = false
        /// How many bytes an earlier transfer had brought.
        var offset = 0
        var received = 0
        var expected: Int?
        var failure: ImageLoadingError?
        var mustAskAnew = false
        /// For a body whose parts each replace the one before. The storage then has the last complete part.
        var replacing: MixedReplaceReader?
        var partNumber = 0
        var metrics: TransferMetrics?

        init(storage: BodyStorage, earlier: PartialFile?) {
            self.storage = storage
            self.earlier = earlier
        }
    }

    private let source: URL
    private let maximumBytes: Int
    private let transfer: SharedTask<LoadedFile>
    private let keepsAnyStatus: Bool
    private let plan: ResumePlan?
    private let state: Lock<State>

    /// - Parameters:
    ///   - budget: the limit for bytes in memory.
    ///   - spillFolder: the folder for what exceeds the budget; nil if nothing may touch the disk.
    ///   - transfer: is told about the progress of the body.
    ///   - parts: where partial bodies are kept; nil to keep none.
    ///   - earlier: the partial body of an earlier transfer. The buffer holds its lock.
    ///   - calls: the system calls for files.
    ///   - keepsAnyStatus: whether the body of any answer is wanted, and may be empty.
    init(
        url: URL, maximumBytes: Int, budget: BodyBudget, spillFolder: String?,
        transfer: SharedTask<LoadedFile>,
        parts: BodyStorage.Parts? = nil, earlier: PartialFile? = nil, calls: FileCalls = FileCalls(),
        keepsAnyStatus: Bool = false
    ) {
        source = url
        self.maximumBytes = maximumBytes
        self.transfer = transfer
        self.keepsAnyStatus = keepsAnyStatus
        plan = earlier.flatMap(ResumePlan.init)
        let storage = BodyStorage(
            source: url, budget: budget, spillFolder: spillFolder, parts: parts, calls: calls)
        state = Lock(State(storage: storage, earlier: plan == nil ? nil : earlier))
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
            !state.isDiscarded && state.failure == nil && state.received > 0
                && state.received == state.expected
        }
    }

    /// What has arrived behind the first `start` bytes, as far as it is in memory: nothing of a body that is in a file, or
    /// that has ended. A copy, since who shared the bytes would make the next ones copy all.
    func bytes(from start: Int) -> [UInt8] { state.withLock { Array($0.storage.bytes.dropFirst(start)) } }

    /// The last whole part of a body whose parts each replace the one before it, and its number from 1; nil before the first
    /// one, and for every other body.
    var replacement: (number: Int, bytes: [UInt8])? {
        state.withLock { state in
            state.replacing == nil || state.partNumber == 0 ? nil : (state.partNumber, state.storage.bytes)
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
            guard head.status == 200 || state.storage.part != nil || keepsAnyStatus else {
                state.isDiscarded = true
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
            if state.storage.part == nil {
                state.storage.begin(
                    head, total: expected, room: min(expected ?? 0, Self.firstReserve),
                    received: state.headTime.seconds)
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
            return TransferProgress(received: state.received, expected: state.expected)
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
                state.storage.removePart()
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
            if let body = state.storage.take(count: state.received) { return .success(body) }
            return .failure(.storageFailed(url: url, reason: "its temporary file cannot be read"))
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
            state.storage.isInFile || state.earlier != nil || keepsSmall && state.storage.isWorthFile
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
            state.storage.resume(earlier)
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
        state.storage.replace(with: part.body)
        state.partNumber += 1
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

    private func breakOff(_ state: inout State, keepsSmall: Bool) {
        if state.failure != nil {
            state.storage.removePart()
        } else if keepsSmall {
            state.storage.keepPart()
        }
        let hadPart = state.storage.part != nil || state.earlier != nil
        state.storage.closePart()
        state.earlier = nil
        // `ImageLoader.remove` could not remove the part while it was locked here.
        if hadPart, transfer.isForgotten { state.storage.removeClosedPart() }
    }
}
