import LazyImages
import SystemSupport

/// A loader whose loads wait until the test ends them. An image is the last part of its URL. Everything is recorded
/// before the call that caused it returns, so a test needs to wait for nothing but the model's own answers.
final class HeldLoader: RowLoading {
    private struct Load {
        let ticket: LoadTicket
        let request: ImageRequest
        let progress: AsyncStream<TransferProgress>.Continuation?
        let previews: AsyncStream<ImagePreview>.Continuation?
        var answer: CheckedContinuation<Result<String, ImageLoadingError>, Never>?
    }

    private struct State {
        var memory: Set<String> = []
        var loads: [LoadTicket: Load] = [:]
        var record: [String] = []
        var lookups = 0
    }

    private let state = Lock(State())

    init(memory: Set<String> = []) { state.withLock { $0.memory = memory } }

    /// What was asked for since this was last read, in its order: `load a`, `cancel a`, `prefetch b`, `raise b`…
    func takeRecord() -> [String] {
        state.withLock { state in
            defer { state.record = [] }
            return state.record
        }
    }

    /// How often memory was asked.
    var lookups: Int { state.withLock { $0.lookups } }

    /// Ends the load of an image.
    func finish(_ name: String) { end(name, .success(name)) }

    func fail(_ name: String, _ error: ImageLoadingError) { end(name, .failure(error)) }

    func report(_ name: String, _ progress: TransferProgress) {
        let load = state.withLock { state in state.loads.values.first { $0.request.name == name } }
        load?.progress?.yield(progress)
    }

    func show(_ name: String, _ preview: ImagePreview) {
        let load = state.withLock { state in state.loads.values.first { $0.request.name == name } }
        load?.previews?.yield(preview)
    }

    /// Whether the load of an image was asked for previews.
    func wantsPreviews(_ name: String) -> Bool {
        state.withLock { state in
            state.loads.values.contains { $0.request.name == name && $0.previews != nil }
        }
    }

    func cachedImage(for request: ImageRequest) -> String? {
        state.withLock { state in
            state.lookups += 1
            return state.memory.contains(request.name) ? request.name : nil
        }
    }

    nonisolated(nonsending) func image(
        for request: ImageRequest, ticket: LoadTicket,
        progress: AsyncStream<TransferProgress>.Continuation?,
        previews: AsyncStream<ImagePreview>.Continuation?
    ) async throws(ImageLoadingError) -> String {
        state.withLock { state in
            state.record.append((request.priority <= .low ? "prefetch " : "load ") + request.name)
            state.loads[ticket] = Load(
                ticket: ticket, request: request, progress: progress, previews: previews)
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                state.withLock { $0.loads[ticket]?.answer = answer }
            }
        } onCancel: {
            let load = state.withLock { state in
                state.record.append("cancel " + request.name)
                return state.loads.removeValue(forKey: ticket)
            }
            load?.answer?.resume(returning: .failure(.cancelled(url: request.name)))
        }
        return try outcome.get()
    }

    nonisolated(nonsending) func setPriority(_ priority: ImageRequest.Priority, of ticket: LoadTicket) async {
        state.withLock { state in
            guard let load = state.loads[ticket] else { return }
            state.record.append((priority <= .low ? "lower " : "raise ") + load.request.name)
        }
    }

    func setPinned(_ isPinned: Bool, for request: ImageRequest) {
        state.withLock { $0.record.append((isPinned ? "pin " : "unpin ") + request.name) }
    }

    private func end(_ name: String, _ outcome: Result<String, ImageLoadingError>) {
        let answers = state.withLock { state in
            let loads = state.loads.values.filter { $0.request.name == name }
            for load in loads { state.loads[load.ticket] = nil }
            return loads.compactMap(\.answer)
        }
        for answer in answers { answer.resume(returning: outcome) }
    }
}

extension ImageRequest {
    /// The last part of the URL.
    var name: String { url.lastPathComponent }
}
