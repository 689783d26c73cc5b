import Dispatch
package import SystemSupport

/// Blocks calls of one kind until it is opened.
public final class CallGate: Sendable {
    private let turnstile = DispatchSemaphore(value: 0)
    private let arrivals = Tally()

    /// A closed gate.
    public init() {}

    /// Waits until a call has arrived at the gate.
    public func reached() async throws { try await arrivals.wait(for: 1) }

    /// Calls that wait at the gate before calls of a kind.
    package func calls(before kind: FileCalls.Kind) -> FileCalls {
        FileCalls(inject: { [self] in
            if $0 == kind {
                arrivals.add()
                turnstile.wait()
                turnstile.signal()
            }
            return nil
        })
    }

    /// Lets all calls through.
    public func open() { turnstile.signal() }
}
