import FoundationEssentials
import Glibc

/// Takes the body of one answer, within the limits: in memory as long as the budget has room, then in a file. What it
/// refuses it remembers, and `finish` throws it. Its part of the budget is free again when the object goes, which is when
/// the body has reached those who wait for it.
final class BodyBuffer: BodyReceiver {
    /// How much of a body that nobody wants (of a redirect, of an error) is read so that the connection can be kept.
    private static let discardLimit = 64 * 1024
    /// How much room is made at once for a length that is only promised.
    private static let firstReserve = 1024 * 1024

    private struct State {
        enum Disposition { case keep, discard }

        var disposition = Disposition.keep
        var bytes: [UInt8] = []
        var spill: SpillFile?
        var received = 0
        var expected: Int?
        var failure: ImageLoadingError?
    }

    private let source: URL
    private let maximumBytes: Int
    private let spillFolder: String
    private let reservation: BodyBudget.Reservation
    private let progress: ProgressRelay
    private let state = Lock(State())

    init(url: URL, maximumBytes: Int, budget: BodyBudget, spillFolder: String, progress: ProgressRelay) {
        source = url
        self.maximumBytes = maximumBytes
        self.spillFolder = spillFolder
        reservation = BodyBudget.Reservation(of: budget)
        self.progress = progress
    }

    /// The URL for messages. Made when it is needed: most transfers need none.
    private var url: String { source.displayText }

    func receive(_ head: ResponseHead) -> Bool {
        let expected = head.contentLength
        let isAccepted = state.withLock { state in
            guard head.status == 200 else {
                state.disposition = .discard
                return expected.map { $0 <= Self.discardLimit } ?? true
            }
            if let encoding = head.fields["content-encoding"], !encoding.isEmpty,
                !encoding.equalsIgnoringCase("identity")
            {
                state.failure = .encodedContent(url: url, encoding: encoding)
                return false
            }
            state.expected = expected
            if let expected, expected > maximumBytes {
                state.failure = .tooLarge(url: url, limit: maximumBytes)
                return false
            }
            state.bytes.reserveCapacity(min(expected ?? 0, Self.firstReserve))
            return true
        }
        if isAccepted, head.status == 200 {
            progress.report(TransferProgress(received: 0, expected: expected))
        }
        return isAccepted
    }

    func receive(_ bytes: Span<UInt8>) -> Bool {
        let report: TransferProgress? = state.withLock { state in
            state.received += bytes.count
            switch state.disposition {
            case .discard:
                return state.received <= Self.discardLimit
                    ? TransferProgress(received: 0, expected: nil) : nil
            case .keep:
                guard state.received <= maximumBytes else {
                    state.failure = .tooLarge(url: url, limit: maximumBytes)
                    return nil
                }
                guard keep(bytes, in: &state) else {
                    state.failure = .storageFailed(url: url, reason: SystemError.text(errno))
                    return nil
                }
                return TransferProgress(received: state.received, expected: state.expected)
            }
        }
        guard let report else { return false }
        if report.received > 0 { progress.report(report) }
        return true
    }

    /// The body, once the transfer has ended well.
    /// - Throws: what was refused on the way; `.empty`; `.truncated` if fewer bytes came than were promised.
    func finish() throws(ImageLoadingError) -> ImageBytes {
        let outcome: Result<ImageBytes, ImageLoadingError> = state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            if state.received == 0 { return .failure(.empty(url: url)) }
            if let expected = state.expected, state.received < expected {
                return .failure(.truncated(url: url, received: state.received, expected: expected))
            }
            if let spill = state.spill {
                guard let file = spill.mapped(count: state.received) else {
                    return .failure(.storageFailed(url: url, reason: SystemError.text(errno)))
                }
                return .success(ImageBytes(file))
            }
            defer { state.bytes = [] }
            return .success(ImageBytes(state.bytes))
        }
        return try outcome.get()
    }

    /// Puts the bytes where there is room; false, with the reason in `errno`, if there is none.
    private func keep(_ bytes: Span<UInt8>, in state: inout State) -> Bool {
        if state.spill == nil, reservation.grow(by: bytes.count) {
            unsafe bytes.withUnsafeBufferPointer { unsafe state.bytes.append(contentsOf: $0) }
            return true
        }
        if let spill = state.spill { return spill.append(bytes) }
        guard let spill = SpillFile(in: spillFolder), spill.append(state.bytes.span), spill.append(bytes)
        else {
            return false
        }
        state.spill = spill
        state.bytes = []
        reservation.giveBack()
        return true
    }
}
