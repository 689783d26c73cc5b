import CMarqueeCurl

/// The body of one transfer's request. libcurl reads it piece by piece, and may start again. Used on the transport's
/// thread only.
@safe final class CurlUpload {
    /// A larger body is announced with `Expect: 100-continue` (RFC 9110 section 10.1.1), so that a refusal costs
    /// nothing. For a smaller body the round trip would cost more than the body.
    private static let expectationThreshold = 1024 * 1024

    private let body: OpenBody
    /// Whether libcurl may send the request again. It does so by itself if the server closes a reused connection at
    /// that moment.
    private let mayBeRepeated: Bool
    private let clock: CurlLoop.Clock
    private let onSent: (Int) -> Void
    private var offset = 0
    /// The most bytes that any try has sent.
    private(set) var sent = 0
    /// When libcurl last read bytes; 0 before the first time.
    private(set) var lastTaken: Int64 = 0
    /// Why reading failed.
    private(set) var fault: ImageLoadingError?

    /// Whether libcurl has read the whole body.
    var isComplete: Bool { offset == body.count }

    init(
        _ body: OpenBody, mayBeRepeated: Bool, clock: CurlLoop.Clock, onSent: @escaping (Int) -> Void
    ) {
        self.body = body
        self.mayBeRepeated = mayBeRepeated
        self.clock = clock
        self.onSent = onSent
    }

    /// The body of a request; nil if it has none and its method needs none.
    static func of(
        _ request: TransportRequest, into receiver: any BodyReceiver, clock: CurlLoop.Clock
    ) -> CurlUpload? {
        guard let body = request.body ?? (request.method.expectsBody ? .empty : nil) else { return nil }
        return CurlUpload(
            body, mayBeRepeated: request.mayBeRepeated ?? request.method.isIdempotent, clock: clock
        ) {
            receiver.sent($0)
        }
    }

    /// Sets the method and the body of a request in a new handle. The handle is not reused afterwards.
    static func apply(_ request: TransportRequest, _ upload: CurlUpload?, to handle: OpaquePointer) {
        unsafe CurlHandle.set(CCURLOPT_CUSTOMREQUEST, .text(request.method.rawValue), in: handle)
        guard let upload else {
            if request.method == .head { unsafe CurlHandle.set(CCURLOPT_NOBODY, .number(1), in: handle) }
            return
        }
        let context = unsafe Unmanaged.passUnretained(upload).toOpaque()
        unsafe CurlHandle.set(CCURLOPT_UPLOAD, .number(1), in: handle)
        _ = unsafe ccurl_easy_set_data_callback(handle, Int32(CCURLOPT_READFUNCTION), readCallback)
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_READDATA), context)
        _ = unsafe ccurl_easy_set_seek_callback(handle, Int32(CCURLOPT_SEEKFUNCTION), seekCallback)
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_SEEKDATA), context)
        _ = unsafe ccurl_easy_set_integer(
            handle, Int32(CCURLOPT_INFILESIZE_LARGE), Int64(upload.body.count))
        // Of an empty body nothing is read, so that `seek` could not prevent a second try.
        if !upload.mayBeRepeated, upload.body.count == 0 {
            unsafe CurlHandle.set(CCURLOPT_FRESH_CONNECT, .number(1), in: handle)
        }
    }

    /// The header line that sets or removes `Expect: 100-continue`. libcurl's own rule differs between versions.
    var expectation: String { body.count > Self.expectationThreshold ? "Expect: 100-continue" : "Expect:" }

    /// Reads the next bytes for libcurl.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        do {
            let count = try unsafe body.read(at: offset, into: buffer)
            offset += count
            sent = max(sent, offset)
            lastTaken = clock.now
            onSent(offset)
            return count
        } catch {
            fault = error
            return Int(CCURL_READ_ABORT)
        }
    }

    /// Continues at an offset, or refuses to.
    fileprivate func seek(to offset: Int) -> Int32 {
        guard offset >= 0, offset <= body.count, mayBeRepeated || self.offset == 0 else {
            return Int32(CCURL_SEEK_FAIL)
        }
        self.offset = offset
        return Int32(CCURL_SEEK_OK)
    }
}

extension OpenBody {
    /// No bytes.
    fileprivate static let empty = OpenBody()
}

/// libcurl needs the next bytes of a request's body.
private func readCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return Int(CCURL_READ_ABORT) }
    let upload = unsafe Unmanaged<CurlUpload>.fromOpaque(context).takeUnretainedValue()
    return unsafe upload.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
}

/// libcurl needs another position in a request's body.
private func seekCallback(_ context: UnsafeMutableRawPointer?, _ offset: Int64, _ origin: Int32) -> Int32 {
    guard let context = unsafe context else { return Int32(CCURL_SEEK_FAIL) }
    return unsafe Unmanaged<CurlUpload>.fromOpaque(context).takeUnretainedValue().seek(to: Int(offset))
}
