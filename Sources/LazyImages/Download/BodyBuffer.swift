import Coalescing
import FoundationEssentials
import Glibc
import SystemSupport

/// Receives the body of one answer, within the limits. `BodyStorage` holds the bytes. `finish` throws the first error.
/// The buffer's share of the budget is free again when the buffer is released, after the callers have the body.
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
        /// Whether the body is read but not kept.
        var isDiscarded = false
        /// The bytes of the resumed partial body.
        var offset = 0
        var received = 0
        var expected: Int?
        var failure: ImageLoadingError?
        var mustRestart = false
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
    private let flight: DownloadFlight
    private let keepsAnyStatus: Bool
    private let plan: ResumePlan?
    private let state: Lock<State>

    /// - Parameters:
    ///   - budget: the limit for bytes in memory.
    ///   - spillFolder: the folder for bytes beyond the budget; nil if nothing may touch the disk.
    ///   - flight: receives the progress of the body.
    ///   - partials: where partial bodies are kept; nil to keep none.
    ///   - earlier: the partial body of an earlier transfer. The buffer holds its lock.
    ///   - calls: the system calls for files.
    ///   - keepsAnyStatus: whether the body of any answer is wanted, and may be empty.
    init(
        url: URL, maximumBytes: Int, budget: BodyBudget, spillFolder: String?,
        flight: DownloadFlight,
        partials: BodyStorage.PartialLocation? = nil, earlier: PartialFile? = nil,
        calls: FileCalls = FileCalls(),
        keepsAnyStatus: Bool = false
    ) {
        source = url
        self.maximumBytes = maximumBytes
        self.flight = flight
        self.keepsAnyStatus = keepsAnyStatus
        plan = earlier.flatMap(ResumePlan.init)
        let storage = BodyStorage(
            source: url, budget: budget, spillFolder: spillFolder, partials: partials, calls: calls)
        state = Lock(State(storage: storage, earlier: plan == nil ? nil : earlier))
    }

    /// The fields that request the rest of a partial body; nil without one.
    var conditions: HTTPFields? { plan?.fields }

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

    /// The bytes in memory after the first `start` ones; none for a body that is in a file or finished. A copy: sharing
    /// the array would make the next append copy all of it.
    func bytes(from start: Int) -> [UInt8] { state.withLock { Array($0.storage.bytes.dropFirst(start)) } }

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

    /// The metrics, once the transfer has ended.
    var metrics: TransferMetrics? { state.withLock { $0.metrics } }

    func receive(_ metrics: TransferMetrics) { state.withLock { $0.metrics = metrics } }

    func receive(_ head: ResponseHead) -> Bool {
        let begins: TransferProgress?? = state.withLock { state in
            state.head = head
            state.headTime = .coarseNow
            if let plan, !resume(plan.verdict(on: head), with: head, in: &state) { return nil }
            let expected = head.contentLength.map { state.offset + $0 }
            guard head.status == 200 || state.storage.partial != nil || keepsAnyStatus else {
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
            if state.storage.partial == nil {
                state.storage.begin(
                    head, total: expected, room: min(expected ?? 0, Self.firstReserve),
                    received: state.headTime.seconds)
            }
            return TransferProgress(received: state.received, expected: expected)
        }
        guard let begins else { return false }
        if let begins { flight.emit(.progress(begins, self)) }
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
        if report.received > 0 { flight.emit(.progress(report, self)) }
        return true
    }

    /// The body, after a successful transfer.
    /// - Throws: an error on the way; `.empty`; `.truncated` if the body is shorter than announced.
    func finish() throws(ImageLoadingError) -> ImageBytes {
        let outcome: Result<ImageBytes, ImageLoadingError> = state.withLock { state in
            if let failure = state.failure {
                state.storage.removePartial()
                return .failure(failure)
            }
            if state.received == 0 {
                return keepsAnyStatus ? .success(ImageBytes([])) : .failure(.empty(url: url))
            }
            if state.replacing != nil, state.partNumber == 0 {
                return .failure(.truncated(url: url, received: state.received, expected: nil))
            }
            if let expected = state.expected, state.received < expected {
                interrupt(&state, keepsSmall: true)
                return .failure(.truncated(url: url, received: state.received, expected: expected))
            }
            if let body = state.storage.take(count: state.received) { return .success(body) }
            return .failure(.storageFailed(url: url, reason: "its temporary file cannot be read"))
        }
        return try outcome.get()
    }

    /// Ends a failed transfer. Keeps the partial body for the next attempt.
    /// - Parameter keepsSmall: whether to keep a partial body that is not in a file yet.
    func interrupt(keepsSmall: Bool) { state.withLock { interrupt(&$0, keepsSmall: keepsSmall) } }

    // MARK: Away from the cooperative pool

    /// As `finish()`. Runs on `threads` if it has to wait for the disk.
    func finish(on threads: BlockingThreads) async throws(ImageLoadingError) -> ImageBytes {
        guard waitsForDisk(keepsSmall: state.withLock { $0.received < $0.expected ?? 0 }) else {
            return try finish()
        }
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

    /// As `interrupt(keepsSmall:)`. Runs on `threads` if it has to wait for the disk.
    func interrupt(keepsSmall: Bool, on threads: BlockingThreads) async {
        guard waitsForDisk(keepsSmall: keepsSmall) else { return interrupt(keepsSmall: keepsSmall) }
        // Losing the error is right: without a thread the partial file is closed with this object.
        try? await threads.run { self.interrupt(keepsSmall: keepsSmall) }
    }

    private func waitsForDisk(keepsSmall: Bool) -> Bool {
        state.withLock { state in
            state.storage.isInFile || state.earlier != nil || keepsSmall && state.storage.isWorthFile
        }
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
        case .cannotResume:
            state.mustRestart = true
            earlier.remove()
            return false
        case .restarts: earlier.remove()
        case .isUnrelated: break
        }
        return true
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

    private func interrupt(_ state: inout State, keepsSmall: Bool) {
        if state.failure != nil {
            state.storage.removePartial()
        } else if keepsSmall {
            state.storage.keepPartial()
        }
        let hadPartial = state.storage.partial != nil || state.earlier != nil
        state.storage.closePartial()
        state.earlier = nil
        // `ImageLoader.remove` could not remove the partial body while it was locked here.
        if hadPartial, !flight.isCurrent { state.storage.removeClosedPartial() }
    }
}
