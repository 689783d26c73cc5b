internal import SystemSupport

/// Whether a balancer should send requests here, as `/health/ready` tells.
package final class Readiness: Sendable {
    private let state: Lock<String?>

    /// - Parameter reason: why the service is not ready yet. Default: it starts.
    package init(unreadyBecause reason: String? = "starting") { state = Lock(reason) }

    /// Why the service is not ready, in one line; nil where it is.
    package var reason: String? { state.withLock { $0 } }

    /// Requests are welcome from now on.
    package func becomeReady() { state.withLock { $0 = nil } }

    /// No more requests should be sent.
    package func becomeUnready(because reason: String) { state.withLock { $0 = reason } }
}
