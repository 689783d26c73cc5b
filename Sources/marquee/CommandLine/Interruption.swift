import Glibc
import LazyImages
import SystemSupport

/// Ctrl-C and the signals that ask a program to end: the first cancels what runs, so that it can end in order; the second
/// ends the program at once, which loses nothing either, because nothing half-written is ever in place.
final class Interruption: Sendable {
    private let first = Lock<Int32?>(nil)
    /// A signal that comes so soon after the first is the same one: `timeout` sends it to the program and to its group.
    /// Nobody presses a key twice as fast.
    private static let echo = Duration.milliseconds(100)
    private let numbers: [Int32]
    /// Until when Ctrl-C is for another program that shares the terminal; nil for never.
    private let sharing = Lock<ContinuousClock.Instant?>(nil)
    /// How late the signal of a Ctrl-C may be seen here that has ended the other program.
    private static let lag = Duration.milliseconds(500)

    /// Takes the signals over, for the threads that are started from here on too: call it before any. One that the parent
    /// has this program ignore, as `nohup` does, stays ignored.
    init() {
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
        var signals = Self.set(of: numbers)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        // Writing past the end of a pipe or of what `ulimit -f` allows is an error to report, not a reason to die.
        for number in [SIGPIPE, SIGXFSZ] { Glibc.signal(number, SIG_IGN) }
    }

    /// Waits for signals from now on, and does `cancel` at the first. Never returns; the main thread's place is here.
    ///
    /// An asynchronous `main` would hand the main thread to Dispatch, which starts a thread that blocks no signal at all:
    /// there the first one would end the program.
    func watch(cancel: () -> Void) -> Never {
        var signals = Self.set(of: numbers)
        var first: (number: Int32, time: ContinuousClock.Instant)?
        while true {
            if numbers.isEmpty {
                pause()
                continue
            }
            var number: Int32 = 0
            guard unsafe sigwait(&signals, &number) == 0 else { continue }
            let now = ContinuousClock.now
            if number == SIGINT, isShared(at: now) { continue }
            if let first {
                if !Self.isEcho(of: first, number, at: now) { Self.end(by: number) }
                continue
            }
            first = (number, now)
            self.first.withLock { $0 = number }
            cancel()
        }
    }

    /// Whether a second signal is the first once more.
    static func isEcho(
        of first: (number: Int32, time: ContinuousClock.Instant), _ number: Int32,
        at time: ContinuousClock.Instant
    ) -> Bool {
        number == first.number && time - first.time < echo
    }

    /// Leaves Ctrl-C and Ctrl-\ to another program that shares the terminal, as a shell does, until `unshare()`.
    func share() {
        sharing.withLock { $0 = ContinuousClock.now + .seconds(1 << 40) }
        Glibc.signal(SIGQUIT, SIG_IGN)
    }

    /// Takes them again.
    func unshare() {
        sharing.withLock { $0 = ContinuousClock.now + Self.lag }
        Glibc.signal(SIGQUIT, SIG_DFL)
    }

    private func isShared(at time: ContinuousClock.Instant) -> Bool {
        sharing.withLock { end in end.map { time < $0 } ?? false }
    }

    /// The signal that cancelled the work; nil as long as none has come.
    var signal: Int32? { first.withLock { $0 } }

    /// What the program ends with after its work ended with `status`. A signal shows: 128 and its number; but SIGTERM is
    /// how a service is meant to end.
    func exitCode(after status: ExitStatus) -> Int32 {
        guard let number = signal else { return status.code }
        return status == .stopped && number == SIGTERM ? status.code : Self.code(ofSignal: number)
    }

    /// Ends the program at once as the signal does by default; a terminal that is held is given back on the way.
    private static func end(by number: Int32) -> Never {
        var signals = set(of: [number])
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
        _exit(code(ofSignal: number))
    }

    private static func code(ofSignal number: Int32) -> Int32 { 128 + number }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in numbers { unsafe sigaddset(&signals, number) }
        return signals
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        // Handlers are functions, which Swift does not compare; SIG_IGN is one by its address.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
