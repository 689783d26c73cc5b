import CCurl
import SystemSupport

/// The body of one transfer's request, as libcurl takes it: so many bytes at a time, from the beginning again where it has
/// to. Used on the transport's thread only.
@safe final class CurlUpload {
    /// From how many bytes on the server is asked before the body is sent (RFC 9110 section 10.1.1): a refusal then costs
    /// nothing. For less, the question would cost more than the body.
    private static let expectationThreshold = 1024 * 1024

    private let body: OpenBody
    /// Whether libcurl may send the request twice: on a connection that was open already and is closed by the server just
    /// then, it would do so by itself.
    private let mayBeRepeated: Bool
    private let clock: CurlLoop.Clock
    private let noteSent: (Int) -> Void
    private var offset = 0
    /// The most that was taken at once, over all beginnings.
    private(set) var sent = 0
    /// When libcurl took bytes last; 0 before.
    private(set) var lastTaken: Int64 = 0
    /// Why it cannot go on.
    private(set) var fault: ImageLoadingError?

    /// Whether libcurl has all of it.
    var isComplete: Bool { offset == body.count }

    init(
        _ body: OpenBody, mayBeRepeated: Bool, clock: CurlLoop.Clock, noteSent: @escaping (Int) -> Void
    ) {
        self.body = body
        self.mayBeRepeated = mayBeRepeated
        self.clock = clock
        self.noteSent = noteSent
    }

    /// The body of a request; nil for a request that has none and need not say so.
    static func of(_ order: CurlOrder, clock: CurlLoop.Clock) -> CurlUpload? {
        guard let body = order.request.body ?? (order.request.method.expectsBody ? .empty : nil) else {
            return nil
        }
        let receiver = order.receiver
        return CurlUpload(body, mayBeRepeated: order.request.method.isIdempotent, clock: clock) {
            receiver.sent($0)
        }
    }

    /// Tells a fresh handle the method and the body of a request. Such a handle serves no other request afterwards.
    static func apply(_ request: TransportRequest, _ upload: CurlUpload?, to handle: OpaquePointer) {
        _ = unsafe request.method.rawValue.withCString {
            unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_CUSTOMREQUEST), $0)
        }
        guard let upload else {
            if request.method == .head { _ = unsafe ccurl_easy_set_long(handle, Int32(CCURLOPT_NOBODY), 1) }
            return
        }
        let context = unsafe Unmanaged.passUnretained(upload).toOpaque()
        _ = unsafe ccurl_easy_set_long(handle, Int32(CCURLOPT_UPLOAD), 1)
        _ = unsafe ccurl_easy_set_data_callback(handle, Int32(CCURLOPT_READFUNCTION), readCallback)
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_READDATA), context)
        _ = unsafe ccurl_easy_set_seek_callback(handle, Int32(CCURLOPT_SEEKFUNCTION), seekCallback)
        _ = unsafe ccurl_easy_set_pointer(handle, Int32(CCURLOPT_SEEKDATA), context)
        _ = unsafe ccurl_easy_set_integer(
            handle, Int32(CCURLOPT_INFILESIZE_LARGE), Int64(upload.body.count))
        // Nothing was taken of an empty body, so that `seek` could not refuse the second time.
        if !upload.mayBeRepeated, upload.body.count == 0 {
            _ = unsafe ccurl_easy_set_long(handle, Int32(CCURLOPT_FRESH_CONNECT), 1)
        }
    }

    /// The line of the header that says whether the server is asked before the body is sent. libcurl has a rule of its own,
    /// by version.
    var expectation: String { body.count > Self.expectationThreshold ? "Expect: 100-continue" : "Expect:" }

    /// Gives libcurl the next bytes.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        do {
            let count = try unsafe body.read(at: offset, into: buffer)
            offset += count
            sent = max(sent, offset)
            lastTaken = clock.now
            noteSent(offset)
            return count
        } catch {
            fault = error
            return Int(CCURL_READ_ABORT)
        }
    }

    /// Goes on from an offset, or refuses to.
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

/// libcurl wants the next bytes of a request's body.
private func readCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context = unsafe context else { return Int(CCURL_READ_ABORT) }
    let upload = unsafe Unmanaged<CurlUpload>.fromOpaque(context).takeUnretainedValue()
    return unsafe upload.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
}

/// libcurl wants to go on elsewhere in a request's body.
private func seekCallback(_ context: UnsafeMutableRawPointer?, _ offset: Int64, _ origin: Int32) -> Int32 {
    guard let context = unsafe context else { return Int32(CCURL_SEEK_FAIL) }
    return unsafe Unmanaged<CurlUpload>.fromOpaque(context).takeUnretainedValue().seek(to: Int(offset))
}
