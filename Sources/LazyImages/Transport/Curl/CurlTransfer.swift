import CMarqueeCurl
import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// One running transfer on the transport's thread: its libcurl handle, its header, and its timeouts.
@safe final class CurlTransfer {
    let job: CurlJob
    let receiver: any BodyReceiver
    let handle: OpaquePointer
    private let started: Int64
    private var lastArrival: Int64
    /// Kept alive for libcurl, which reads it during the transfer.
    private let requestFields: CurlList
    private let connectTo: CurlList
    private let clock: CurlLoop.Clock
    /// The request's body; nil for none.
    private let upload: CurlUpload?
    /// Checks the addresses; nil for a request without address rules.
    private let filter: CurlAddressFilter?

    private var header = CurlHeader()
    private var received = 0
    private var receiverHasEnough = false
    /// Whether libcurl keeps bytes until the receiver takes them.
    private var isPaused = false
    private var fault: ImageLoadingError?
    /// Whether the handle can be reused after the transfer. Not a handle that signs, or has its own authorities, a client
    /// certificate or another method than GET: libcurl cannot reset these.
    var leavesHandleReusable: Bool {
        guard isPlain, job.request.signature == nil, job.request.security?.clientCertificate == nil
        else { return false }
        guard case .authorities(.some)? = job.request.security?.trust else { return true }
        return false
    }
    /// Why the transfer must not start: libcurl cannot enforce the TLS requirements.
    private(set) var refusal: ImageLoadingError?

    /// Whether the request is a GET without a body, as nearly all are.
    private var isPlain: Bool { job.request.method == .get && upload == nil }

    /// The URL for messages. Computed on demand: most transfers need no message.
    var urlText: String { job.request.urlText }

    /// A transfer on a handle of `CurlHandle.make`, new or reused.
    init(
        job: CurlJob, receiver: any BodyReceiver, handle: OpaquePointer, started: Int64,
        requestFields: CurlList, connectTo: CurlList, clock: CurlLoop.Clock, upload: CurlUpload?
    ) {
        self.job = job
        self.receiver = receiver
        self.clock = clock
        self.upload = upload
        unsafe self.handle = handle
        self.started = started
        self.requestFields = requestFields
        self.connectTo = connectTo
        lastArrival = started
        filter = job.request.addresses.map { CurlAddressFilter($0) }

        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe setPointer(CCURLOPT_PRIVATE, context)
        unsafe setPointer(CCURLOPT_WRITEDATA, context)
        unsafe setPointer(CCURLOPT_HEADERDATA, context)
        if let filter { unsafe filter.attach(to: handle) }
        unsafe CurlHandle.set(CCURLOPT_URL, .text(job.request.url.absoluteString), in: handle)
        // Waits for a connection that HTTP/2 may share, if TLS decides that within a handshake. Without TLS all other
        // transfers of the host would have to wait for the first answer.
        let isSecure = job.request.url.scheme?.lowercased() == "https"
        unsafe CurlHandle.set(CCURLOPT_PIPEWAIT, .number(isSecure ? 1 : 0), in: handle)
        let connect = Int(clamping: max(1, job.request.timeouts.connect.nanoseconds / 1_000_000))
        unsafe CurlHandle.set(CCURLOPT_CONNECTTIMEOUT_MS, .number(connect), in: handle)
        unsafe setPointer(CCURLOPT_HTTPHEADER, UnsafeRawPointer(requestFields.first))
        unsafe setPointer(CCURLOPT_CONNECT_TO, UnsafeRawPointer(connectTo.first))
        if !isPlain { unsafe CurlUpload.apply(job.request, upload, to: handle) }
        if let signature = job.request.signature, unsafe !signature.apply(to: handle) {
            refusal = .transportUnavailable(
                reason: "\(CurlLibrary.name) cannot sign requests; install libcurl 7.87 or later")
        }
        if let security = job.request.security, let reason = unsafe CurlSecurity.apply(security, to: handle) {
            refusal = .secureConnectionFailed(url: urlText, reason: reason)
        }
    }

    /// The transfer of a libcurl handle.
    static func of(_ handle: OpaquePointer) -> CurlTransfer? {
        var context: UnsafeMutableRawPointer?
        _ = unsafe ccurl_easy_get_pointer(handle, Int32(CCURLINFO_PRIVATE), &context)
        return unsafe context.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: What arrives

    /// Receives one header line with its line end. False stops the transfer.
    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        lastArrival = clock.now
        switch unsafe header.append(line) {
        case .incomplete: return true
        case .complete(let head): return endHead(head)
        case .tooLarge:
            let reason = "its header exceeds \(CurlHeader.limit) bytes"
            fault = .malformedResponse(url: urlText, reason: reason)
            return false
        }
    }

    private func endHead(_ head: ResponseHead) -> Bool {
        if receiver.receive(head) { return true }
        receiverHasEnough = true
        // Without a body libcurl finishes by itself, and can keep the connection.
        return head.contentLength == 0 || job.request.method == .head
    }

    /// Receives the next bytes of the body. Returns their number, another one to stop the transfer, or
    /// CCURL_WRITE_PAUSE: then libcurl gives the same bytes again after `resume`.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastArrival = clock.now
        if !receiverHasEnough {
            // A closure of one object costs no allocation.
            isPaused = !receiver.mayContinue { [job] in job.resume() }
            if isPaused { return Int(CCURL_WRITE_PAUSE) }
            let span = unsafe bytes.assumingMemoryBound(to: UInt8.self).span
            receiverHasEnough = !receiver.receive(span)
        }
        received += bytes.count
        return receiverHasEnough ? -1 : bytes.count
    }

    /// Continues after a pause. libcurl gives the kept bytes before it returns.
    /// - Returns: a result code of libcurl.
    func resume() -> Int32 {
        guard isPaused else { return Int32(CCURLE_OK) }
        isPaused = false
        lastArrival = clock.now
        return unsafe ccurl_easy_resume(handle)
    }

    // MARK: How it ends

    /// The outcome for a result code of libcurl.
    func outcome(ofResult result: Int32) -> CurlJob.Outcome {
        if let fault = fault ?? upload?.fault { return .failure(fault) }
        // libcurl reports no error if the connection closes within the header, so the header must be complete.
        if let head = header.head, header.isComplete, receiverHasEnough || result == Int32(CCURLE_OK) {
            return .success(head)
        }
        if let reason = filter?.refusal {
            return .failure(.addressRefused(url: urlText, rule: .address, reason: reason))
        }
        return .failure(failure(ofResult: result))
    }

    private func failure(ofResult result: Int32) -> ImageLoadingError {
        let words = CurlLibrary.text(ofResult: result)
        if let shortage = shortage(ofResult: result) { return ImageLoadingError(shortage, url: urlText) }
        switch Int(result) {
        case CCURLE_OK, CCURLE_GOT_NOTHING:
            return .connectionLost(
                url: urlText, received: received, reason: "the server closed it inside the header")
        case CCURLE_COULDNT_RESOLVE_HOST:
            return .hostNotFound(url: urlText, host: job.request.url.host() ?? "")
        case CCURLE_COULDNT_CONNECT:
            return .connectionFailed(url: urlText, reason: systemReason() ?? words)
        case CCURLE_PARTIAL_FILE:
            return .truncated(url: urlText, received: received, expected: header.head?.contentLength)
        case CCURLE_OPERATION_TIMEDOUT:
            return timeout(in: .connect)
        case CCURLE_SSL_CERTPROBLEM:
            return .secureConnectionFailed(
                url: urlText,
                reason: "the client certificate or its key cannot be used; "
                    + "name PEM files that belong together, with a key without a password")
        case CCURLE_SSL_CONNECT_ERROR, CCURLE_SSL_CIPHER,
            CCURLE_PEER_FAILED_VERIFICATION, CCURLE_SSL_CACERT_BADFILE, CCURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return .secureConnectionFailed(url: urlText, reason: words)
        case CCURLE_SEND_ERROR, CCURLE_RECV_ERROR, CCURLE_HTTP2, CCURLE_HTTP2_STREAM,
            CCURLE_SEND_FAIL_REWIND:
            return .connectionLost(url: urlText, received: received, reason: systemReason() ?? words)
        case CCURLE_URL_MALFORMAT:
            return .invalidURL(text: urlText, reason: words)
        default:
            return .malformedResponse(url: urlText, reason: words)
        }
    }

    /// The missing resource of the system, if that is why libcurl failed.
    private func shortage(ofResult result: Int32) -> ResourceShortage? {
        switch Int(result) {
        // After the request is sent, the same code means a header line that is too long for libcurl.
        case CCURLE_OUT_OF_MEMORY:
            requestSent() == nil ? ResourceShortage(missing: .memory, code: ENOMEM) : nil
        case CCURLE_COULDNT_CONNECT, CCURLE_COULDNT_RESOLVE_HOST:
            ResourceShortage(code: Int32(clamping: number(CCURLINFO_OS_ERRNO)))
        default: nil
        }
    }

    private func systemReason() -> String? {
        let number = number(CCURLINFO_OS_ERRNO)
        return number == 0 ? nil : SystemError.text(Int32(clamping: number))
    }

    /// The times and sizes that libcurl has measured.
    var metrics: TransferMetrics {
        var metrics = TransferMetrics()
        metrics.nameLookup = time(CCURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = time(CCURLINFO_CONNECT_TIME_T)
        metrics.secureConnect = time(CCURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = time(CCURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = .nanoseconds(CurlLoop.now() - started)
        metrics.bytes = received
        metrics.sent = upload?.sent ?? 0
        metrics.protocolVersion =
            switch number(CCURLINFO_HTTP_VERSION) {
            case 1: "HTTP/1.0"
            case 2: "HTTP/1.1"
            case 3: "HTTP/2"
            default: ""
            }
        metrics.isReused = header.byteCount > 0 && number(CCURLINFO_NUM_CONNECTS) == 0
        return metrics
    }

    private func time(_ info: Int) -> Duration {
        var microseconds: Int64 = 0
        _ = unsafe ccurl_easy_get_integer(handle, Int32(info), &microseconds)
        return .microseconds(microseconds)
    }

    private func number(_ info: Int) -> Int {
        var number = 0
        _ = unsafe ccurl_easy_get_long(handle, Int32(info), &number)
        return number
    }

    // MARK: Timeouts

    /// The next timeout and its phase, as of now. libcurl itself enforces the timeout for connecting.
    func deadline(now: Int64) -> (time: Int64, phase: Timeouts.Phase) {
        let timeouts = job.request.timeouts
        let total = started.adding(timeouts.total)
        // The receiver makes it wait, not the server.
        if isPaused { return (total, .total) }
        let next: (time: Int64, phase: Timeouts.Phase)
        if let upload, !header.isComplete, let sent = requestSent() {
            // An interim answer does not mean that the server has read the body.
            let last = max(sent, lastArrival, upload.lastTaken)
            next =
                upload.isComplete
                ? (last.adding(timeouts.firstByte), .firstByte) : (last.adding(timeouts.stall), .stall)
        } else if header.byteCount > 0 {
            next = (lastArrival.adding(timeouts.stall), .stall)
        } else if let sent = requestSent() {
            next = (sent.adding(timeouts.firstByte), .firstByte)
        } else {
            // Still connecting: the timeout for the first byte cannot run out earlier.
            next = (now.adding(timeouts.firstByte), .firstByte)
        }
        return total <= next.time ? (total, .total) : next
    }

    /// When to check the deadline again. Arriving bytes start another phase, whose timeout may be shorter.
    func nextLook(now: Int64) -> Int64 {
        let timeouts = job.request.timeouts
        return min(deadline(now: now).time, now.adding(min(timeouts.firstByte, timeouts.stall)))
    }

    /// The error for a phase that took too long.
    func timeout(in phase: Timeouts.Phase) -> ImageLoadingError {
        .timedOut(url: urlText, phase: phase, seconds: job.request.timeouts.limit(of: phase).seconds)
    }

    /// When the request was sent; nil while there is no connection.
    private func requestSent() -> Int64? {
        var microseconds: Int64 = 0
        _ = unsafe ccurl_easy_get_integer(handle, Int32(CCURLINFO_PRETRANSFER_TIME_T), &microseconds)
        return microseconds == 0 ? nil : started + microseconds * 1000
    }

    // MARK: Settings

    private func setPointer(_ option: Int, _ pointer: UnsafeRawPointer?) {
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(option), pointer)
    }
}

/// The header of one answer, as its lines arrive from libcurl. Interim answers (1xx) come before the final one.
struct CurlHeader {
    /// No honest server sends a larger header. Interim answers count too.
    static let limit = 256 * 1024

    enum Progress {
        case incomplete
        /// The empty line after the final answer's header has arrived just now.
        case complete(ResponseHead)
        case tooLarge
    }

    /// The last status line and its fields; nil before the first status line.
    private(set) var head: ResponseHead?
    /// Whether the final answer's header has ended.
    private(set) var isComplete = false
    private(set) var byteCount = 0

    /// Takes one line, its line end included.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Progress {
        byteCount += line.count
        guard byteCount <= Self.limit else { return .tooLarge }
        // The trailer of a chunked body, which is ignored.
        if isComplete { return .incomplete }
        var end = line.count
        while end > 0, unsafe line[end - 1] <= 0x20 { end -= 1 }
        if end == 0 {
            guard let head, !(100..<200).contains(head.status) else { return .incomplete }
            isComplete = true
            return .complete(head)
        }
        let content = unsafe UnsafeRawBufferPointer(rebasing: line[..<end])
        if unsafe content.starts(with: "HTTP/".utf8) {
            head = ResponseHead(status: unsafe Self.status(inStatusLine: content))
        } else if let field = unsafe HeaderFields.Field(
            line: content.assumingMemoryBound(to: UInt8.self).span)
        {
            head?.fields.append(field)
        }
        return .incomplete
    }

    /// The status in `HTTP/1.1 200 OK`, whose reason may be missing; 0 if there is none.
    private static func status(inStatusLine line: UnsafeRawBufferPointer) -> Int {
        let afterVersion = unsafe line.drop { $0 != 0x20 }.drop { $0 == 0x20 }
        let digits = unsafe afterVersion.prefix { $0 != 0x20 }
        guard unsafe digits.count <= 3, unsafe digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return 0
        }
        return unsafe digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

}
