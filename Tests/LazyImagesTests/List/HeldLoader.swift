import Coalescing
import FoundationEssentials
import ImageCodecs
import SystemSupport
import TestSupport

@testable import LazyImages

/// A loader whose loads wait until the test ends them. The last part of an image's URL is its name. Calls are
/// recorded before they return, so a test waits only for the model's own updates.
final class HeldLoader: ImageLoading {
    private typealias Load = ImageFlight

    private struct State {
        var memory: Set<String> = []
        /// The loads, by the images' names.
        var loads: [(name: String, load: Load)] = []
        var record: [String] = []
        var lookups = 0
    }

    private let state = Lock(State())

    init(memory: Set<String> = []) { state.withLock { $0.memory = memory } }

    /// The calls since the last read, in order: `load a`, `cancel a`, `prefetch b`, `raise b`…
    func takeRecord() -> [String] {
        state.withLock { state in
            defer { state.record = [] }
            return state.record
        }
    }

    /// The number of look-ups in memory.
    var lookups: Int { state.withLock { $0.lookups } }

    /// Ends the load of an image.
    func finish(_ name: String) { end(name) { .success(image(name, $0)) } }

    func fail(_ name: String, _ error: ImageLoadingError) { end(name) { _ in .failure(error) } }

    func report(_ name: String, _ progress: TransferProgress) {
        for load in loads(name) { load.emit(.progress(progress, nil)) }
    }

    func show(_ name: String, _ preview: ImagePreview) {
        for load in loads(name) { load.emit(.preview(preview)) }
    }

    /// Whether the load of an image wants previews.
    func wantsPreviews(_ name: String) -> Bool { loads(name).contains(where: \.isDemanded) }

    func cachedImage(for request: ImageRequest) -> LoadedImage? {
        let isCached = state.withLock { state in
            state.lookups += 1
            return state.memory.contains(request.name)
        }
        return isCached ? image(request.name, request.url) : nil
    }

    func imageTask(with request: ImageRequest) -> ImageTask {
        let (name, load) = (request.name, Load { .cancelled(url: request.url.displayText) })
        let caller = load.firstCaller(request.priority.rank)
        let last = Shared(load.priority)
        load.observe { [weak self, weak load] in
            guard let self, let load else { return }
            let priority = load.priority
            let hasChanged = last.change { last in
                defer { last = priority }
                return last != priority
            }
            guard hasChanged else { return }
            record((priority <= ImageRequest.Priority.low.rank ? "lower " : "raise ") + name)
        }
        record((request.priority <= .low ? "prefetch " : "load ") + name)
        state.withLock { $0.loads.append((name, load)) }
        let cancel = { @Sendable [weak self, weak load] in
            guard let self, let load else { return }
            let wasRunning = self.state.withLock { state in
                defer { state.loads.removeAll { $0.load === load } }
                return state.loads.contains { $0.load === load }
            }
            if wasRunning { self.record("cancel " + name) }
        }
        load.run(isImmediate: true) { () async throws(ImageLoadingError) in
            await withTaskCancellationHandler {
                // Ignored: the sleep ends when the load does.
                try? await Task.sleep(for: .seconds(1 << 30))
            } onCancel: {
                cancel()
            }
            throw .cancelled(url: "")
        }
        return ImageTask(request, caller)
    }

    func pin(_ request: ImageRequest) -> MemoryPin? {
        record("pin " + request.name)
        return MemoryPin { self.record("unpin " + request.name) }
    }

    private func record(_ text: String) { state.withLock { $0.record.append(text) } }

    private func loads(_ name: String) -> [Load] {
        state.withLock { state in state.loads.filter { $0.name == name }.map(\.load) }
    }

    private func end(_ name: String, _ outcome: (URL) -> Result<LoadedImage, ImageLoadingError>) {
        let ended = loads(name)
        state.withLock { $0.loads.removeAll { $0.name == name } }
        for load in ended { load.finish(outcome(URL(filePath: "/" + name))) }
    }

    private func image(_ name: String, _ url: URL) -> LoadedImage { .named(name) }
}

extension LoadedImage {
    /// An image of one pixel.
    static func named(_ name: String) -> LoadedImage {
        let size = ImageSize(width: 1, height: 1)
        return LoadedImage(
            bitmap: Bitmap(width: 1, height: 1, pixels: [0, 0, 0, 255]),
            header: ImageHeader(format: .png, size: size),
            url: URL(filePath: "/" + name))
    }
}

extension ImageRequest {
    /// The last part of the URL.
    var name: String { url.lastPathComponent }
}
