import Synchronization
import SystemSupport

/// One transfer that was asked for.
struct CurlOrder: Sendable {
    typealias Outcome = Result<ResponseHead, ImageLoadingError>
    let number: Int
    let request: TransportRequest
    let receiver: any BodyReceiver
    let cancellation: CurlCancellation
    let continuation: CheckedContinuation<Outcome, Never>
    let resumption: ResumeOrder

    /// Gives the caller its outcome: once.
    func end(with outcome: Outcome) {
        resumption.mark()
        continuation.resume(returning: outcome)
    }
}

/// Whether the caller has left. The message `.cancel` may reach the thread before the order does, when the caller was
/// cancelled already; then nobody would know what it meant. So the flag is set first and read when the order comes:
/// 1. the flag is set before the order is read: the order is not begun;
/// 2. it is set after: the message comes after the order, and ends it.
final class CurlCancellation: Sendable {
    let isRequested = Atomic(false)
}
