import ImageCodecs
import SystemSupport

/// Makes the previews of one load while its body arrives: of a progressive JPEG, whose every scan makes the picture
/// better; and of `multipart/x-mixed-replace`, whose every part is a picture. It is told of what arrives on the transport's thread and does nothing there but count; one job at a time, on
/// the threads that decode, takes the new bytes from the body and makes a picture.
///
///     received  4 KB   8 KB   10 KB   16 KB ...  all of it
///     preview   1      2      -       3           none: the image itself comes
///
/// Whatever fails here fails again where the whole image is decoded, and is told there.
final class PreviewMaker: Sendable {
    /// The most previews of one load.
    static let most = 6

    private struct State {
        /// The body that arrives. Another takes its place where a transfer is begun anew.
        var body: BodyBuffer?
        var reader: JPEGPreviews?
        /// Bytes of the body that the reader has.
        var taken = 0
        var received = 0
        /// Bytes that were there for the last preview.
        var shown = 0
        var made = 0
        var isAtWork = false
        var isOver = false
        /// The part of a body that was shown last, of those that each replace the one before it.
        var shownPart = 0

        /// Whether there is enough more than last time.
        var isDue: Bool {
            if let part = body?.replacement { return !isOver && part.number > shownPart }
            return !isOver && received > taken && received >= 2 * shown
        }

        /// No more previews are made.
        mutating func end() {
            isOver = true
            body = nil
            reader = nil
        }
    }

    private let sizing: ImageSizing?
    private let limits: DecodingLimits
    private let decoders: ImageDecoders
    private let threads: BlockingThreads
    private let load: SharedTask<LoadedImage>
    private let pressure: MemoryPressure?
    private let state = Lock(State())

    /// - Parameters:
    ///   - load: is shown the previews.
    ///   - pressure: how short memory is; nil for a loader that does not care.
    init(
        sizing: ImageSizing?, limits: DecodingLimits, decoders: ImageDecoders, on threads: BlockingThreads,
        for load: SharedTask<LoadedImage>, under pressure: MemoryPressure?
    ) {
        self.sizing = sizing
        self.limits = limits
        self.decoders = decoders
        self.threads = threads
        self.load = load
        self.pressure = pressure
    }

    /// Passes a transfer's events on to the load, and looks at each piece of the body if somebody wants previews, now or
    /// later.
    var listener: TaskListener {
        load.addOwner { [weak self] change in
            if case .wantsPreviews(let progress, let body) = change { self?.note(progress, of: body) }
        }
        return TaskListener { [self] event in
            if case .ended = event { return }
            load.tell(event)
            if case .progress(let progress, let body?) = event, load.wantsPreviews {
                note(progress, of: body)
            }
        }
    }

    /// More of a body has arrived.
    private func note(_ progress: TransferProgress, of body: BodyBuffer) {
        let begins = state.withLock { state in
            if !state.isOver, state.body !== body {
                state.body = body
                state.reader = nil
                (state.taken, state.shown, state.shownPart) = (0, 0, 0)
            }
            state.received = progress.received
            // The image itself is about to come.
            if let expected = progress.expected, progress.received >= expected { state.end() }
            guard state.isDue, !state.isAtWork else { return false }
            state.isAtWork = true
            return true
        }
        guard begins else { return }
        do {
            try threads.enqueue { self.work() }
        } catch {
            // Losing the error is right: without a thread there is no preview, and more bytes try again.
            state.withLock { $0.isAtWork = false }
        }
    }

    /// Makes a preview, and another if enough has come meanwhile.
    private func work() {
        while let (body, start) = next() {
            let preview =
                if let part = body.replacement { self.preview(of: body, part) } else {
                    preview(of: body, body.bytes(from: start))
                }
            if let preview { load.tell(.preview(preview)) }
        }
    }

    /// What there is to do; nil at the end of the job.
    private func next() -> (body: BodyBuffer, start: Int)? {
        state.withLock { state in
            guard state.isDue, let body = state.body else {
                state.isAtWork = false
                return nil
            }
            return (body, state.taken)
        }
    }

    /// Decodes a part. Nil where that fails, or the part is no picture of this body any more.
    private func preview(of body: BodyBuffer, _ part: (number: Int, bytes: [UInt8])) -> ImagePreview? {
        let isWanted = state.withLock { state in
            state.shownPart = part.number
            return state.body === body && pressure?.level != .critical
        }
        let bytes = part.bytes
        // Losing the error is right: a part that is damaged is replaced by the next.
        guard isWanted, let bitmap = try? decoders.decode(bytes.span, sizing: sizing, limits: limits) else {
            return nil
        }
        return state.withLock { state in
            state.made += 1
            return ImagePreview(bitmap: bitmap, number: state.made)
        }
    }

    /// Reads on. Nil where that has not made the picture better, or it can be no preview.
    private func preview(of body: BodyBuffer, _ piece: [UInt8]) -> ImagePreview? {
        let taken = state.withLock { state -> JPEGPreviews? in
            // A body in a file is none to look into, and where memory is short nothing is decoded.
            if piece.isEmpty || pressure?.level == .critical { state.end() }
            guard state.body === body else { return nil }
            state.taken += piece.count
            return state.reader.take() ?? JPEGPreviews(sizing: sizing, limits: limits)
        }
        guard var reader = taken else { return nil }
        var bitmap: Bitmap?
        var hasFailed = false
        do {
            if try reader.append(piece) { bitmap = try reader.picture() }
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
