import SystemSupport

/// Ctrl-C and the other signals that ask a program to end. The first one cancels the work, so that it ends in order.
/// The second one ends the program at once. Neither leaves a half-written file in place. A service without a terminal
/// reads its files anew at SIGHUP instead.
final class Interruption: Sendable {
    private let first = Lock<Int32?>(nil)
    /// A second signal within this time counts as the same one: `timeout` signals the program and its group. No person
    /// presses a key twice as fast.
    private static let repetitionTime = Duration.milliseconds(100)
    private let numbers: [Int32]
    /// The time until which Ctrl-C belongs to another program in the terminal; nil if it does not.
    private let sharing = Lock<ContinuousClock.Instant?>(nil)
    /// How late this program may see a Ctrl-C that has ended the other program.
    private static let lag = Duration.milliseconds(500)
    /// Called at SIGHUP; nil if SIGHUP ends the program.
    private let hangUp = Lock<(@Sendable () -> Void)?>(nil)

    /// Takes over the signals for this thread and all later ones, so call it before starting any. A signal that the
    /// parent process ignores, as with `nohup`, stays ignored.
    init() {
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
        var signals = Self.set(of: numbers)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        // Writing to a closed pipe, or beyond the limit of `ulimit -f`, is an error to report. It must not end the
        // program.
        for number in [SIGPIPE, SIGXFSZ] { Glibc.signal(number, SIG_IGN) }
    }

    /// Waits for signals, and calls `cancel` at the first. Never returns; call it on the main thread.
    ///
    /// An asynchronous `main` would give the main thread to Dispatch, which starts a thread that blocks no signals.
    /// There the first signal would end the program.
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
            if number == SIGHUP, let hangUp = hangUp.withLock({ $0 }) {
                hangUp()
                continue
            }
            if let first {
                if !Self.isRepetition(of: first, number, at: now) { Self.end(by: number) }
                continue
            }
            first = (number, now)
            self.first.withLock { $0 = number }
            cancel()
        }
    }

    /// From now on SIGHUP calls `reload`, as it is usual for services, and no longer ends the program. `reload` must not
    /// block. In a terminal nothing changes: there the signal says that the terminal has closed.
    func onHangUp(_ reload: @escaping @Sendable () -> Void) {
        guard !Self.hasTerminal else { return }
        hangUp.withLock { $0 = reload }
    }

    /// Whether the process has a controlling terminal: only then the system opens this file (tty(4)).
    private static var hasTerminal: Bool {
        // Ignored: only whether it opens counts.
        (try? FileCalls().openForReading(path: "/dev/tty")) != nil
    }

    /// Whether a second signal is a repetition of the first.
    static func isRepetition(
        of first: (number: Int32, time: ContinuousClock.Instant), _ number: Int32,
        at time: ContinuousClock.Instant
    ) -> Bool {
        number == first.number && time - first.time < repetitionTime
    }

    /// Leaves Ctrl-C and Ctrl-\ to another program in the terminal, as a shell does, until `unshare()`.
    func share() {
        sharing.withLock { $0 = ContinuousClock.now + .seconds(1 << 40) }
        Glibc.signal(SIGQUIT, SIG_IGN)
    }

    /// Takes these keys back.
    func unshare() {
        sharing.withLock { $0 = ContinuousClock.now + Self.lag }
        Glibc.signal(SIGQUIT, SIG_DFL)
    }

    private func isShared(at time: ContinuousClock.Instant) -> Bool {
        sharing.withLock { end in end.map { time < $0 } ?? false }
    }

    /// The signal that cancelled the work; nil if none came.
    var signal: Int32? { first.withLock { $0 } }

    /// Ends the program after the work has ended with `status`. After Ctrl-C it ends by that signal: a shell then
    /// starts a new line, and leaves its loop. Another signal gives 128 plus its number, but SIGTERM is the normal way
    /// to end a service.
    func exit(after status: ExitStatus) -> Never {
        switch signal {
        case SIGINT: Self.end(by: SIGINT)
        case SIGTERM where status == .stopped: Glibc.exit(status.code)
        case let number?: Glibc.exit(Self.code(ofSignal: number))
        case nil: Glibc.exit(status.code)
        }
    }

    /// Ends the program at once, as the signal does by default, after restoring the terminal. The first process of a
    /// container outlives the signal, so it exits.
    private static func end(by number: Int32) -> Never {
        var signals = set(of: [number])
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
        _exit(code(ofSignal: number))
    }

    private static func code(ofSignal number: Int32) -> Int32 { 128 + number }

    static func set(of numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in numbers { unsafe sigaddset(&signals, number) }
        return signals
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        // Swift cannot compare functions, so the handler's address is compared with SIG_IGN.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
