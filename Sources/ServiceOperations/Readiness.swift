internal import SystemSupport

/// Whether a load balancer should send requests, for `/health/ready`.
package final class Readiness: Sendable {
    private let state: Lock<String?>

    /// - Parameter reason: why the service is not ready yet. Default: `starting`.
    package init(unreadyBecause reason: String? = "starting") { state = Lock(reason) }

    /// Why the service is not ready, in one line; nil if it is ready.
    package var reason: String? { state.withLock { $0 } }

    /// Requests are welcome from now on.
    package func becomeReady() { state.withLock { $0 = nil } }

    /// No more requests should come.
    package func becomeUnready(because reason: String) { state.withLock { $0 = reason } }
}
