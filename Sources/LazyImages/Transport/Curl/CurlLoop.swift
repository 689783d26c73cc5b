import CMarqueeCurl
import CMarqueeSystem
import Synchronization
import SystemSupport

/// The event loop of the transport's thread. It drives one libcurl multi handle by epoll and
/// `curl_multi_socket_action`, so that the cost of an event does not depend on the number of transfers.
@safe final class CurlLoop {
    /// The time of the loop's last wake-up, which is the time of arrival of all bytes that it reads then.
    final class Clock {
        var now: Int64 = 0
    }

    private let inbox: CurlInbox
    private let configuration: CurlTransport.Configuration
    /// Whether the transfers have address rules, which are then the same for all.
    private let filtersAddresses: Bool
    private let connectTo: CurlList
    private let poller: Poller
    private var multi: OpaquePointer?
    private var transfers: [Int: CurlTransfer] = [:]
    /// The sockets that libcurl wants to be watched.
    private var watched: Set<Int32> = []
    /// Sockets that libcurl no longer wants to be watched. They stay in the epoll set: the next transfer reuses them.
    private var idle: Set<Int32> = []
    /// The fields of the last request. The next request's fields are nearly always equal.
    private var lastFields = (fields: HeaderFields(), list: CurlList([]))
    /// Handles to reuse.
    private var idleHandles: [OpaquePointer] = unsafe []
    private let clock = Clock()
    /// When libcurl wants to be called, and when to check the transfers' timeouts; monotonic nanoseconds.
    private var curlDeadline = Int64.max
    private var transferDeadline = Int64.max

    init(
        inbox: CurlInbox, poller: Poller, configuration: CurlTransport.Configuration, filtersAddresses: Bool
    ) {
        self.inbox = inbox
        self.poller = poller
        connectTo = CurlList(configuration.connectTo.map { "\($0.key):\($0.value)" })
        self.configuration = configuration
        self.filtersAddresses = filtersAddresses
    }

    deinit {
        ccurl_enter()
        defer { ccurl_leave() }
        unsafe idleHandles.forEach { unsafe ccurl_easy_cleanup($0) }
        if let multi = unsafe multi { unsafe ccurl_multi_cleanup(multi) }
    }

    /// Runs until the transport is released.
    func run() {
        ccurl_enter()
        defer { ccurl_leave() }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard let multi = unsafe ccurl_multi_init(socketCallback, timerCallback, context) else {
            return inbox.refuse(ResourceShortage(missing: .memory, code: ENOMEM))
        }
        unsafe self.multi = multi
        _ = unsafe ccurl_multi_set_connection_cache(multi, configuration.idleConnections)
        _ = unsafe ccurl_multi_set_host_connections(multi, configuration.connectionsPerHost)
        let wake = inbox.mailbox.wake
        guard watch(wake.descriptor, operation: EPOLL_CTL_ADD, events: EPOLLIN.rawValue) else {
            return inbox.refuse(ResourceShortage(missing: .memory, code: errno))
        }

        var events = unsafe [epoll_event](repeating: epoll_event(), count: 128)
        while true {
            ccurl_leave()
            let count = unsafe epoll_wait(poller.descriptor, &events, Int32(events.count), waitTime())
            ccurl_enter()
            clock.now = Self.now()
            for index in 0..<max(0, Int(count)) {
                let event = unsafe events[index]
                let socket = unsafe event.data.fd
                if socket == wake.descriptor {
                    wake.reset()
                } else if idle.remove(socket) != nil {
                    // The server has closed an idle connection. libcurl notices that when it wants to reuse it.
                    watch(socket, operation: EPOLL_CTL_DEL, events: 0)
                } else {
                    _ = unsafe ccurl_multi_ready(multi, socket, Self.readiness(unsafe event.events))
                }
            }
            guard let messages = inbox.mailbox.take() else { return }
            for message in messages { handle(message) }
            if Self.now() >= curlDeadline {
                curlDeadline = .max
                _ = unsafe ccurl_multi_timeout(multi)
            }
            endFinishedTransfers()
            if Self.now() >= transferDeadline { endTimedOutTransfers() }
        }
    }

    // MARK: Transfers

    private func handle(_ message: CurlInbox.Message) {
        switch message {
        case .start(let job, let receiver):
            if job.isCancelled.load(ordering: .acquiring) {
                job.end(with: .failure(.cancelled(url: job.request.urlText)))
            } else {
                start(job, into: receiver)
            }
        case .cancel(let number):
            if let transfer = transfers[number] {
                end(transfer, with: .failure(.cancelled(url: transfer.urlText)))
            }
        case .resume(let number):
            guard let transfer = transfers[number] else { return }
            let result = transfer.resume()
            // libcurl does not end a transfer that stops here.
            if result != Int32(CCURLE_OK) { end(transfer, with: transfer.outcome(ofResult: result)) }
        }
    }

    private func start(_ job: CurlJob, into receiver: any BodyReceiver) {
        let reused = unsafe idleHandles.popLast()
        guard let handle = unsafe reused ?? CurlHandle.make(configuration, filtersAddresses: filtersAddresses)
        else {
            let shortage = ResourceShortage(missing: .memory, code: ENOMEM)
            job.end(with: .failure(ImageLoadingError(shortage, url: job.request.urlText)))
            return
        }
        let upload = CurlUpload.of(job.request, into: receiver, clock: clock)
        let transfer = unsafe CurlTransfer(
            job: job, receiver: receiver, handle: handle, started: Self.now(),
            requestFields: requestFields(job.request, upload),
            connectTo: connectTo, clock: clock, upload: upload)
        if let refusal = transfer.refusal {
            retire(transfer)
            job.end(with: .failure(refusal))
            return
        }
        transfers[job.number] = transfer
        transferDeadline = min(transferDeadline, transfer.nextLook(now: Self.now()))
        _ = unsafe ccurl_multi_add(multi, handle)
    }

    private func requestFields(_ request: TransportRequest, _ upload: CurlUpload?) -> CurlList {
        if let upload { return CurlList(request.fields, upload.expectation) }
        if request.fields != lastFields.fields {
            lastFields = (request.fields, CurlList(request.fields))
        }
        return lastFields.list
    }

    private func endFinishedTransfers() {
        var result: Int32 = 0
        while let handle = unsafe ccurl_multi_next_ended(multi, &result) {
            guard let transfer = unsafe CurlTransfer.of(handle) else { continue }
            end(transfer, with: transfer.outcome(ofResult: result))
        }
    }

    private func endTimedOutTransfers() {
        let now = Self.now()
        transferDeadline = .max
        for transfer in transfers.values {
            let deadline = transfer.deadline(now: now)
            if deadline.time <= now {
                end(transfer, with: .failure(transfer.timeout(in: deadline.phase)))
            } else {
                transferDeadline = min(transferDeadline, transfer.nextLook(now: now))
            }
        }
    }

    private func end(_ transfer: CurlTransfer, with outcome: CurlJob.Outcome) {
        transfers[transfer.job.number] = nil
        transfer.receiver.receive(transfer.metrics)
        _ = unsafe ccurl_multi_remove(multi, transfer.handle)
        retire(transfer)
        transfer.job.end(with: outcome)
    }

    private func retire(_ transfer: CurlTransfer) {
        if transfer.leavesHandleReusable {
            unsafe idleHandles.append(transfer.handle)
        } else {
            unsafe ccurl_easy_cleanup(transfer.handle)
        }
    }

    // MARK: Sockets and time

    /// Milliseconds until the next deadline, rounded up; -1 for none.
    private func waitTime() -> Int32 {
        let next = min(curlDeadline, transferDeadline)
        if next == .max { return -1 }
        return Int32(clamping: max(0, (next - Self.now() + 999_999) / 1_000_000))
    }

    fileprivate func setTimer(milliseconds: Int) {
        curlDeadline = milliseconds < 0 ? .max : Self.now() + Int64(milliseconds) * 1_000_000
    }

    fileprivate func watch(_ socket: Int32, for what: Int32) {
        if what == Int32(CCURL_POLL_REMOVE) {
            if watched.remove(socket) != nil { idle.insert(socket) }
            return
        }
        var events: UInt32 = 0
        if what & Int32(CCURL_POLL_IN) != 0 { events |= EPOLLIN.rawValue }
        if what & Int32(CCURL_POLL_OUT) != 0 { events |= EPOLLOUT.rawValue }
        let isKnown = !watched.insert(socket).inserted || idle.remove(socket) != nil
        // The socket may have been closed, and its number reused: then it is not in the epoll set.
        if isKnown, watch(socket, operation: EPOLL_CTL_MOD, events: events) { return }
        watch(socket, operation: EPOLL_CTL_ADD, events: events)
    }

    @discardableResult
    private func watch(_ descriptor: Int32, operation: Int32, events: UInt32) -> Bool {
        var event = unsafe epoll_event(events: events, data: epoll_data_t(fd: descriptor))
        // Fails for a socket that libcurl has closed, which removed it from the set.
        return unsafe epoll_ctl(poller.descriptor, operation, descriptor, &event) == 0
    }

    private static func readiness(_ events: UInt32) -> Int32 {
        var ready = 0
        if events & EPOLLIN.rawValue != 0 { ready |= CCURL_READY_IN }
        if events & EPOLLOUT.rawValue != 0 { ready |= CCURL_READY_OUT }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { ready |= CCURL_READY_ERROR }
        return Int32(ready)
    }

    /// Monotonic nanoseconds.
    static func now() -> Int64 { MonotonicClock.nanoseconds }
}

/// libcurl asks to watch a socket for events.
private func socketCallback(
    _ easy: OpaquePointer?, _ socket: Int32, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<CurlLoop>.fromOpaque(context).takeUnretainedValue().watch(socket, for: what)
    return 0
}

/// libcurl asks to be called after some time.
private func timerCallback(_ multi: OpaquePointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?)
    -> Int32
{
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<CurlLoop>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds: milliseconds)
    return 0
}

/// The messages of callers to the transport's thread, and the descriptor that wakes it.
final class CurlInbox: Sendable {
    enum Message: Sendable {
        case start(CurlJob, any BodyReceiver)
        case cancel(Int)
        /// The receiver of a paused transfer wants its bytes again.
        case resume(Int)

        fileprivate func refuse(_ shortage: ResourceShortage) {
            guard case .start(let job, _) = self else { return }
            job.end(with: .failure(ImageLoadingError(shortage, url: job.request.urlText)))
        }
    }

    /// Closed when the transport is gone, or when the thread could not start.
    let mailbox: Mailbox<Message>
    /// Why the thread could not start.
    private let shortage = Lock<ResourceShortage?>(nil)

    init() throws(ResourceShortage) { mailbox = try Mailbox() }

    /// Adds a message.
    func send(_ message: Message) {
        if !mailbox.send(message), let shortage = shortage.withLock({ $0 }) { message.refuse(shortage) }
    }

    /// Fails all present and future jobs: there is no thread for them.
    func refuse(_ shortage: ResourceShortage) {
        self.shortage.withLock { $0 = shortage }
        for message in mailbox.close() { message.refuse(shortage) }
    }
}

/// One requested transfer. It does not retain the receiver, which may retain it by `resume`.
final class CurlJob: Sendable {
    typealias Outcome = Result<ResponseHead, ImageLoadingError>
    let number: Int
    let request: TransportRequest
    private let inbox: CurlInbox
    /// Whether the caller has cancelled. If the caller was cancelled from the start, the message `.cancel` may reach
    /// the thread before the job, and would be lost. So the caller first sets this flag, which the thread reads when
    /// it gets the job:
    /// 1. the flag is set before the thread gets the job: the thread does not start the transfer;
    /// 2. it is set later: the message comes after the job, and cancels the transfer.
    let isCancelled = Atomic(false)
    private let continuation = Lock<CheckedContinuation<Outcome, Never>?>(nil)
    private let resumption = ResumeOrder()

    init(number: Int, request: TransportRequest, inbox: CurlInbox) {
        self.number = number
        self.request = request
        self.inbox = inbox
    }

    /// Sends the job to the thread, and waits for its outcome.
    func outcome(into receiver: any BodyReceiver) async -> Outcome {
        let outcome = await withCheckedContinuation { continuation in
            self.continuation.withLock { $0 = continuation }
            inbox.send(.start(self, receiver))
        }
        resumption.mark()
        return outcome
    }

    /// Cancels the transfer.
    func cancel() {
        isCancelled.store(true, ordering: .releasing)
        inbox.send(.cancel(number))
    }

    /// Continues the paused transfer, on the thread. Does nothing if it has ended: the thread knows it by its number.
    func resume() { inbox.send(.resume(number)) }

    /// Resumes the caller with the outcome. Only the first call counts.
    func end(with outcome: Outcome) {
        let continuation = continuation.withLock { $0.take() }
        resumption.mark()
        continuation?.resume(returning: outcome)
    }
}
