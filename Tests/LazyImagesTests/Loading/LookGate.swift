import Glibc
import SystemSupport
import TestSupport

/// Holds the first call of a kind after it is armed, and then lets it fail.
final class LookGate: Sendable {
    private struct State {
        var isArmed = false
        var fault: FileCalls.InjectedFault?
    }

    private let kind: FileCalls.Kind
    private let state = Lock(State())
    private let arrivals = Tally()
    private let gate = Gate()

    init(_ kind: FileCalls.Kind = .open) { self.kind = kind }

    var calls: FileCalls {
        FileCalls(inject: { [self] kind in
            guard kind == self.kind else { return nil }
            let fault = state.withLock { state -> FileCalls.InjectedFault?? in
                guard state.isArmed else { return nil }
                state.isArmed = false
                return state.fault
            }
            guard let fault else { return nil }
            arrivals.add()
            gate.wait()
            return fault
        })
    }

    /// - Parameter fault: the fault of the held call. Default: there is no such file.
    func arm(with fault: FileCalls.InjectedFault? = .failure(ENOENT)) {
        state.withLock { ($0.isArmed, $0.fault) = (true, fault) }
    }

    func reached() async throws { try await arrivals.wait(for: 1) }

    func open() { gate.open() }
}
