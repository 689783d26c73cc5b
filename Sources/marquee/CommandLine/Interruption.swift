import Glibc
import LazyImages

/// Ctrl-C and the signals that ask a program to end: the first cancels what runs, so that it can end in order; the second
/// ends the program at once, which loses nothing either, because nothing half-written is ever in place.
final class Interruption: Sendable {
    private struct State {
        var signal: Int32?
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    /// Takes the signals over, for the threads that are started from here on too: call it before any.
    init() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, signal) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for signals from now on, and does `cancel` at the first.
    func watch(cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0.cancel = cancel }
        BlockingThreads.startThread { [self] in
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            for signal in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, signal) }
            while true {
                var number: Int32 = 0
                guard unsafe sigwait(&signals, &number) == 0 else { continue }
                let cancel = state.withLock { state in
                    if state.signal != nil { _exit(Self.status(ofSignal: number)) }
                    state.signal = number
                    return state.cancel
                }
                cancel?()
            }
        }
    }

    /// The exit status that tells the shell which signal came: 128 and its number; nil if none has.
    var exitStatus: Int32? { state.withLock { $0.signal }.map(Self.status) }

    private static func status(ofSignal number: Int32) -> Int32 { 128 + number }
}
