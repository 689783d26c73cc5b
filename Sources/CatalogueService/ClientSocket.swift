import Glibc

/// One accepted socket: bounded reads and writes that a stop interrupts. Used by one thread.
struct ClientSocket {
    enum Received {
        case bytes([UInt8])
        /// The client closed, or is gone.
        case closed
        case timedOut
        case stopped
    }

    enum FileTransfer {
        case sent
        /// The client is gone or takes nothing, or the file has become shorter.
        case failed
        /// The file's system has no such call; nothing was sent.
        case unsupported
    }

    private let descriptor: Int32
    private let stop: StopSignal
    private let counters: ServiceCounters

    /// Bytes asked of the system at once.
    private static let readSize = 16 << 10
    /// Bytes of a file given to the system at once, so that progress is seen and a stop noticed.
    private static let sendfileSize = 1 << 20
    /// What is read and thrown away at most after the last answer, and for how long.
    private static let lingerBytes = 1 << 20
    private static let lingerTime = Duration.seconds(1)

    /// Lends the socket to `body` and closes it.
    static func serving(
        _ descriptor: Int32, stop: StopSignal, counters: ServiceCounters, _ body: (ClientSocket) -> Void
    ) {
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        // An answer's last bytes must not wait for the client to acknowledge the ones before.
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        body(ClientSocket(descriptor: descriptor, stop: stop, counters: counters))
    }

    /// Whatever comes next, at most `limit` bytes.
    func receive(atMost limit: Int = readSize, until deadline: ContinuousClock.Instant) -> Received {
        while true {
            // Checked even while bytes come: a client that trickles them must not push its deadline away.
            if stop.isRaised { return .stopped }
            if ContinuousClock.now >= deadline { return .timedOut }
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: min(limit, Self.readSize)) {
                buffer, filled in
                count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
                filled = max(0, count)
            }
            if count > 0 { return .bytes(bytes) }
            if count == 0 { return .closed }
            switch errno {
            case EINTR: continue
            case EAGAIN: _ = stop.wait(for: descriptor, POLLIN, until: deadline)
            default: return .closed
            }
        }
    }

    /// Sends all of it, or says that the client is gone or takes nothing for `timeout`. `more` says that the
    /// next bytes follow at once.
    func send(_ bytes: ArraySlice<UInt8>, more: Bool, timeout: Duration) -> Bool {
        let flags = Int32(MSG_NOSIGNAL | (more ? MSG_MORE : 0))
        return transfer(bytes.count, timeout: timeout) { sent in
            unsafe bytes.dropFirst(sent).withUnsafeBytes { rest in
                unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, flags)
            }
        } == bytes.count
    }

    /// Sends a part of a file without its bytes coming into this program.
    func sendFile(_ file: Int32, _ part: Range<Int>, timeout: Duration) -> FileTransfer {
        var offset = off_t(part.lowerBound)
        var isUnsupported = false
        let sent = transfer(part.count, timeout: timeout) { sent in
            let step = unsafe sendfile(descriptor, file, &offset, min(part.count - sent, Self.sendfileSize))
            isUnsupported = step < 0 && sent == 0 && (errno == EINVAL || errno == ENOSYS)
            return step
        }
        return sent == part.count ? .sent : isUnsupported ? .unsupported : .failed
    }

    /// Repeats a system call that sends some of `count` bytes until all are sent; gives up where it fails.
    private func transfer(_ count: Int, timeout: Duration, _ call: (Int) -> Int) -> Int {
        var sent = 0
        // Even while the client takes all it can get: a large file must not hold up a stop.
        while sent < count, !stop.isGraceOver {
            let step = call(sent)
            if step > 0 {
                sent += step
                counters.countSent(step)
                continue
            }
            if step == 0 { return sent }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                guard stop.waitToFinish(for: descriptor, POLLOUT, until: .now + timeout) else { return sent }
            default: return sent
            }
        }
        return sent
    }

    /// Ends the connection so that the last answer arrives: closing with unread bytes would reset it, and the
    /// reset overtakes the answer (RFC 9112 section 9.6).
    func linger() {
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return }
        let deadline = ContinuousClock.now + Self.lingerTime
        var discarded = 0
        while discarded < Self.lingerBytes, case .bytes(let bytes) = receive(until: deadline) {
            discarded += bytes.count
        }
    }
}
