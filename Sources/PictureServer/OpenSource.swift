import HTTPSemantics
import ImageCodecs
import LazyImages
import PictureService
import SystemSupport

/// A source in memory, from which pictures are made one after the other. It has a place in the gate, and a worker and
/// memory once it is decoded. It gives them back when nobody uses it any more.
final class OpenSource: Sendable {
    /// A source that is used as long as somebody else keeps it. A class: copies of a struct with a weak reference in an
    /// optional end the program in Swift 6.3.
    final class Reference: Sendable {
        let id: ObjectIdentifier
        weak let source: OpenSource?

        init(_ source: OpenSource) { (id, self.source) = (ObjectIdentifier(source), source) }
    }

    /// Decodes the source. Used by one thread at a time.
    private final class Decoder: Sendable {
        let maker: Lock<PictureMaker>
        init(_ maker: PictureMaker) { self.maker = Lock(maker) }
    }

    let key: PictureLoader.SourceKey
    let file: LoadedFile
    /// Grows from source to source.
    let number: Int
    /// How the bytes were fetched.
    let status: CacheStatus
    private let ticket: WorkGate.Ticket
    private let loader: PictureLoader
    private let state: Lock<LoadedFile>
    /// The last picture, which waits for those before it.
    private let last = Lock<Task<Result<Picture, PictureFailure>, Never>?>(nil)
    /// The decoder, and the memory reserved for it in bytes; nil before the first picture.
    private let reserved = Lock<(decoder: Decoder, memory: Int)?>(nil)
    /// The time from which on only requests that came before may use it, in seconds since 1970.
    private let end: Int

    /// - Parameters:
    ///   - ticket: the source's place in the gate.
    ///   - known: the record that led to the read; nil for none.
    ///   - now: seconds since 1970.
    init(
        _ file: LoadedFile, _ key: PictureLoader.SourceKey, _ ticket: WorkGate.Ticket, number: Int,
        replacing known: LoadedFile?, _ loader: PictureLoader, now: Int
    ) {
        (self.file, self.key, self.number) = (file, key, number)
        (self.ticket, self.loader) = (ticket, loader)
        let knownDamage = known?.content == file.content ? known?.damage : nil
        let record = file.record(damage: file.damage ?? knownDamage)
        state = Lock(record)
        status = CacheStatus(file, hadRecord: known != nil) ?? .hit(record, now: now)
        let isUsable = file.mayBeKept && file.use(in: .shared, now: now) == .fresh
        end = isUsable ? now + (file.secondsLeft(now: now) ?? CacheControl.maximumSeconds) : .min
    }

    deinit {
        loader.gate.release(ticket)
        loader.gate.leave(ticket)
        loader.close(key, ObjectIdentifier(self))
    }

    /// What the tiers know of the source, and its damage as far as it is known.
    var record: LoadedFile { state.withLock { $0 } }

    /// Whether a request that comes now may use it without asking the origin.
    func isUsable(now: Int) -> Bool { now < end }

    /// Notes damage that decoding has found.
    /// - Returns: whether it was unknown.
    func note(_ damage: ImageDecodingError) -> Bool {
        state.withLock { record in
            guard record.damage == nil else { return false }
            record = (file.mayBeDoubted ? file.doubted : file).record(damage: damage)
            return true
        }
    }

    // MARK: Pictures

    /// Makes a picture, after those that were asked for before.
    func picture(_ recipe: PictureRecipe) async throws(PictureFailure) -> Picture {
        let task = last.withLock { last in
            let before = last
            let task = Task {
                _ = await before?.value
                return await outcome(recipe)
            }
            last = task
            return task
        }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    private func outcome(_ recipe: PictureRecipe) async -> Result<Picture, PictureFailure> {
        do throws(PictureFailure) {
            if Task.isCancelled { throw .cancelled }
            return .success(try await make(recipe, with: decoder(for: recipe)))
        } catch {
            return .failure(error)
        }
    }

    private func make(
        _ recipe: PictureRecipe, with decoder: Decoder
    ) async throws(PictureFailure) -> Picture {
        let start = ContinuousClock.now
        let picture = try await loader.run { () throws(PictureFailure) in
            try decoder.maker.withLock { maker throws(PictureFailure) in
                try PictureFailure.making { () throws(PictureError) in try maker.picture(recipe) }
            }
        }
        loader.counters.count(.made, after: start.duration(to: .now))
        return picture
    }

    /// The decoder, with a worker and memory for the recipe.
    private func decoder(for recipe: PictureRecipe) async throws(PictureFailure) -> Decoder {
        if let (decoder, memory) = reserved.withLock({ $0 }) {
            let missing = max(0, try Self.memory(for: recipe, of: decoder.maker.withLock { $0 }) - memory)
            if missing == 0 || loader.gate.extend(by: missing, for: ticket) {
                reserved.withLock { $0 = (decoder, memory + missing) }
                return decoder
            }
        }
        let maker = try PictureFailure.making { () throws(PictureError) in
            try PictureMaker(file.bytes, decoders: loader.decoders, limits: loader.limits)
        }
        let memory = try Self.memory(for: recipe, of: maker)
        guard memory <= loader.gate.memory else { throw .needsMemory }
        // Gives up its memory before it waits. Two sources that each hold a part could wait for each other for ever.
        if reserved.withLock({ $0.take() }) != nil { loader.gate.release(ticket) }
        try await loader.gate.acquire(memory, for: ticket)
        let decoder = Decoder(maker)
        reserved.withLock { $0 = (decoder, memory) }
        loader.counters.count(.decoded)
        return decoder
    }

    private static func memory(
        for recipe: PictureRecipe, of maker: PictureMaker
    ) throws(PictureFailure) -> Int {
        try PictureFailure.making { () throws(PictureError) in try maker.memory(for: recipe) }
    }
}
