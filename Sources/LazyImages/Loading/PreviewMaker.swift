import Coalescing
import ImageCodecs
import SystemSupport

/// Makes previews of one load while its body arrives: of a progressive JPEG, whose scans improve the image, of a PNG,
/// WebP or GIF, whose rows arrive in order, and of `multipart/x-mixed-replace`, whose parts are images. On the
/// transport's thread it only counts bytes. One job at a time, on a decoding thread, takes the new bytes and makes a
/// preview.
///
///     received  4 KB   8 KB   10 KB   16 KB ...  all of it
///     preview   1      2      -       3           none: the image itself comes
///
/// Errors are ignored here: decoding the whole image reports them.
final class PreviewMaker: Sendable {
    /// The most previews of one load.
    static let most = 6

    private struct State {
        /// The arriving body. A new attempt has another one.
        var body: BodyBuffer?
        var reader: ImagePreviews?
        /// Bytes of the body that the reader has taken.
        var taken = 0
        var received = 0
        /// Bytes taken for the last preview.
        var shown = 0
        var made = 0
        var isAtWork = false
        var isOver = false
        /// The number of the last part shown, for a body whose parts replace each other.
        var shownPart = 0

        /// Whether there are enough new bytes for another preview.
        var isDue: Bool {
            if let part = body?.replacement { return !isOver && part.number > shownPart }
            return !isOver && received > taken && received >= 2 * shown
        }

        /// Stops making previews, and releases the body.
        mutating func end() {
            isOver = true
            body = nil
            reader = nil
        }
    }

    private let flight: ImageFlight
    private let pipeline: ImagePipeline
    private let decoder: FileDecoder
    private let state = Lock(State())

    private init(_ flight: ImageFlight, _ pipeline: ImagePipeline, _ decoder: FileDecoder) {
        self.flight = flight
        self.pipeline = pipeline
        self.decoder = decoder
    }

    /// Makes previews from now on if somebody wants some, and else no more. The next reader gets one of all bytes so far.
    static func update(
        _ flight: ImageFlight, from download: DownloadFlight.Caller, _ request: ImageRequest,
        _ decoder: FileDecoder
    ) {
        while true {
            let isWanted = flight.isDemanded
            if isWanted {
                download.demand { PreviewMaker(flight, request.pipeline, decoder).listener }
            } else {
                download.endDemand()
            }
            // The wish may have changed meanwhile, on another thread.
            if flight.isDemanded == isWanted { return }
        }
    }

    private var listener: LoadListener {
        LoadListener(isDemanding: true) { [self] event in
            switch event {
            case .progress(let progress, let body?): record(progress, of: body)
            // No more of the body comes.
            case nil: state.withLock { $0.end() }
            default: break
            }
        }
    }

    /// Notes that more of a body has arrived.
    private func record(_ progress: TransferProgress, of body: BodyBuffer) {
        let begins = state.withLock { state in
            if !state.isOver, state.body !== body {
                state.body = body
                state.reader = nil
                (state.taken, state.shown, state.shownPart) = (0, 0, 0)
            }
            state.received = progress.received
            // The complete image is about to be decoded.
            if let expected = progress.expected, progress.received >= expected { state.end() }
            guard state.isDue, !state.isAtWork else { return false }
            state.isAtWork = true
            return true
        }
        guard begins else { return }
        do {
            try decoder.threads.enqueue { self.work() }
        } catch {
            // Ignored: without a thread there is no preview now, and the next bytes try again.
            state.withLock { $0.isAtWork = false }
        }
    }

    /// Makes a preview, and another if enough bytes have arrived meanwhile.
    private func work() {
        while let (body, start) = next() {
            let preview =
                if let part = body.replacement { self.preview(of: body, part) } else {
                    preview(of: body, body.bytes(from: start))
                }
            // Ignored: a processor that fails makes the load fail.
            if let preview,
                let bitmap = try? preview.bitmap.processed(by: pipeline.steps, limits: decoder.limits)
            {
                flight.emit(.preview(ImagePreview(bitmap: bitmap, number: preview.number)))
            }
        }
    }

    /// The next body to read; nil at the end of the job.
    private func next() -> (body: BodyBuffer, start: Int)? {
        state.withLock { state in
            guard state.isDue, let body = state.body else {
                state.isAtWork = false
                return nil
            }
            return (body, state.taken)
        }
    }

    /// Decodes a part of a body whose parts replace each other. Nil if that fails, or if there is another body now.
    private func preview(of body: BodyBuffer, _ part: (number: Int, bytes: [UInt8])) -> ImagePreview? {
        let isWanted = state.withLock { state in
            state.shownPart = part.number
            return state.body === body && decoder.pressure?.level != .critical
        }
        let bytes = part.bytes
        // Ignored: the next part replaces a damaged one.
        guard isWanted,
            let bitmap = try? decoder.decoders.decode(
                bytes.span, sizing: pipeline.sizing, limits: decoder.limits)
        else {
            return nil
        }
        return state.withLock { state in
            state.made += 1
            return ImagePreview(bitmap: bitmap, number: state.made)
        }
    }

    /// Reads more of an image. Nil if that has not improved the image, or if no preview can be made.
    private func preview(of body: BodyBuffer, _ piece: [UInt8]) -> ImagePreview? {
        let taken = state.withLock { state -> ImagePreviews? in
            // No previews of a body in a file, and none while memory is short.
            if piece.isEmpty || decoder.pressure?.level == .critical { state.end() }
            guard state.body === body else { return nil }
            state.taken += piece.count
            return state.reader.take() ?? ImagePreviews(sizing: pipeline.sizing, limits: decoder.limits)
        }
        guard var reader = taken else { return nil }
        var bitmap: Bitmap?
        var hasFailed = false
        do {
            bitmap = try reader.append(piece)
        } catch {
            hasFailed = true
        }
        return state.withLock { state in
            guard state.body === body else { return nil }
            if hasFailed || reader.isComplete {
                state.end()
                return nil
            }
            state.reader = reader
            guard let bitmap else { return nil }
            state.made += 1
            state.shown = state.taken
            if state.made == Self.most { state.end() }
            return ImagePreview(bitmap: bitmap, number: state.made)
        }
    }
}
