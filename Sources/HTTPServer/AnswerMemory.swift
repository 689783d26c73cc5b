import HTTPSemantics
import SystemSupport
import Synchronization
internal import CSystem

/// The memory of answers that clients have not taken yet. Without this limit, slow readers of large answers could fill
/// the memory.
///
/// Answers that share their bytes, such as a kept page that a hundred clients read, count once. Files do not count.
/// After much has been sent, the freed memory goes back to the system.
final class AnswerMemory: Sendable {
    private struct State {
        /// The senders of each body, by the address of its bytes. While an answer is being sent its bytes stay there.
        var senders: [UInt: Int] = [:]
        /// The most bytes since memory was given back.
        var peak = 0
        /// When to give memory back; nil if nothing is due.
        var trimTime: ContinuousClock.Instant?
    }

    private let limit: Int
    private let count = Atomic(0)
    private let state = Lock(State())
    private let isTrimSet = Atomic(false)

    /// From this size on a body counts. Smaller ones fit into the system's own buffers.
    private static let leastBody = 16 << 10
    /// From this peak on memory is given back, after this time without answers that wait.
    private static let trimPeak = 8 << 20
    private static let trimDelay = Duration.seconds(2)

    /// - Parameter limit: in bytes.
    init(limit: Int) { self.limit = limit }

    /// Whether another large answer has no room.
    func isFull(for body: HTTPResponse.Body) -> Bool {
        guard body.count >= Self.leastBody, case .bytes = body else { return false }
        return count.load(ordering: .relaxed) >= limit
    }

    /// The bytes that are being sent now.
    var bytes: Int { count.load(ordering: .relaxed) }

    /// Counts the body of an answer that its client does not take at once.
    /// - Returns: the key for `leave`; nil if it does not count.
    func enter(_ body: HTTPResponse.Body) -> UInt? {
        guard body.count >= Self.leastBody, case .bytes(let bytes) = body else { return nil }
        let key = unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        state.withLock { state in
            if let others = state.senders[key] {
                state.senders[key] = others + 1
            } else {
                state.senders[key] = 1
                let all = count.add(bytes.count, ordering: .relaxed).newValue
                state.peak = max(state.peak, all)
            }
        }
        return key
    }

    /// An answer with these bytes has been sent, or its client is gone.
    func leave(_ key: UInt, _ bytes: Int, now: ContinuousClock.Instant) {
        state.withLock { state in
            guard let senders = state.senders[key] else { return }
            if senders > 1 {
                state.senders[key] = senders - 1
                return
            }
            state.senders[key] = nil
            count.subtract(bytes, ordering: .relaxed)
            if state.senders.isEmpty, state.peak >= Self.trimPeak {
                state.trimTime = now + Self.trimDelay
                isTrimSet.store(true, ordering: .relaxed)
            }
        }
    }

    /// When `trim` has something to do; nil for nothing. Cheap: every turn of a loop asks.
    var trimTime: ContinuousClock.Instant? {
        isTrimSet.load(ordering: .relaxed) ? state.withLock { $0.trimTime } : nil
    }

    /// Whether memory is to be given back now. Only one caller gets true.
    func takeTrim(now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            guard let time = state.trimTime, time <= now else { return false }
            (state.trimTime, state.peak) = (nil, 0)
            isTrimSet.store(false, ordering: .relaxed)
            return true
        }
    }

    /// Gives freed memory back to the system. Takes milliseconds.
    static func trim() { csystem_trim_memory() }
}
