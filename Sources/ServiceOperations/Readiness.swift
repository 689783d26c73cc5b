internal import SystemSupport

/// Whether a load balancer should send requests, for `/health/ready`; and what its operator should know meanwhile.
package final class Readiness: Sendable {
    private struct State: Sendable {
        var reason: String?
        var notes: [String: String] = [:]
    }

    private let state: Lock<State>

    /// - Parameter reason: why the service is not ready yet. Default: `starting`.
    package init(unreadyBecause reason: String? = "starting") { state = Lock(State(reason: reason)) }

    /// Why the service is not ready, in one line; nil if it is ready.
    package var reason: String? { state.withLock { $0.reason } }

    /// Faults that do not keep the service from answering, one line each, in the order of their keys.
    package var notes: [String] {
        state.withLock { state in state.notes.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Requests are welcome from now on.
    package func becomeReady() { state.withLock { $0.reason = nil } }

    /// No more requests should come.
    package func becomeUnready(because reason: String) { state.withLock { $0.reason = reason } }

    /// Sets the note of a part of the service, such as `catalogue`; nil removes it.
    package func note(_ text: String?, for key: String) {
        // An error may quote a document.
        let line = text?.replacing("\n", with: " ")
        state.withLock { $0.notes[key] = line }
    }
}
