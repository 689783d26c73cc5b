import Coalescing
import FoundationEssentials
import TestSupport
import Testing

@testable import LazyImages

/// Concurrent callers of a loader, each in its own task.
struct Callers<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, ImageLoadingError>
    let tasks: [Task<Outcome, Never>]

    init(
        _ count: Int, _ call: @escaping @Sendable (_ index: Int) async throws(ImageLoadingError) -> Value
    ) {
        tasks = (0..<count).map { index in
            Task { await Result.of { () async throws(ImageLoadingError) in try await call(index) } }
        }
    }

    /// Waits for every caller's outcome. A test's time limit cancels them all.
    var outcomes: [Outcome] {
        get async {
            await withTaskCancellationHandler {
                var outcomes: [Outcome] = []
                for task in tasks { outcomes.append(await task.value) }
                return outcomes
            } onCancel: {
                for task in tasks { task.cancel() }
            }
        }
    }
}

extension ImageDownloader {
    /// A downloader that stores nothing.
    init(transport: any Transport, configuration: Configuration) {
        self.init(configuration: configuration, transport: transport)
    }

    /// Starts `count` callers of one request. All wait for it when this returns.
    nonisolated func callers(
        _ count: Int = 1, of request: ImageRequest
    ) async throws -> Callers<LoadedFile> {
        let joined = (0..<count).map { _ in
            join(DownloadRequest(request, replacing: nil), request.priority.rank)
        }
        return Callers(count) { index throws(ImageLoadingError) in
            try self.checked(try await joined[index].value)
        }
    }

    /// Starts `count` callers of one request, without waiting until they have joined.
    nonisolated func unjoinedCallers(_ count: Int = 1, of request: ImageRequest) -> Callers<LoadedFile> {
        Callers(count) { _ throws(ImageLoadingError) in try await self.download(request) }
    }

    /// Waits until the transfer of a request has this priority.
    nonisolated func waitForPriority(_ priority: ImageRequest.Priority, of request: ImageRequest) async throws
    {
        try await eventually { self.flights[request.transferKey]?.priority == priority.rank }
    }

    /// How many callers wait for transfers.
    nonisolated var callerCount: Int { flights.running.reduce(0) { $0 + $1.callerCount } }

    private nonisolated func checked(_ file: LoadedFile) throws(ImageLoadingError) -> LoadedFile {
        guard let status = file.status, status == 200 || file.head != nil else {
            throw .httpStatus(url: file.url.displayText, status: file.status ?? 0)
        }
        return file
    }
}

extension FileLoader {
    /// Loads a request and returns its error; nil after a success.
    func error(
        for request: ImageRequest, progress: AsyncStream<TransferProgress>.Continuation? = nil
    ) async -> ImageLoadingError? {
        await Result.of { () async throws(ImageLoadingError) in
            try await self.file(for: request, progress: progress)
        }.error
    }

    /// Starts `count` callers of a request that no tier has. All wait for its transfer when this returns.
    func callers(_ count: Int = 1, of request: ImageRequest) async throws -> Callers<LoadedFile> {
        let before = downloader.callerCount
        let callers = Callers(count) { _ throws(ImageLoadingError) in try await self.file(for: request) }
        try await eventually { self.downloader.callerCount >= before + count }
        return callers
    }
}

extension ImageLoader {
    /// Starts `count` callers of one request. All wait for its load when this returns.
    func callers(_ count: Int = 1, of request: ImageRequest) -> Callers<LoadedImage> {
        let tasks = (0..<count).map { _ in imageTask(with: request) }
        return Callers(count) { index throws(ImageLoadingError) in try await tasks[index].value }
    }
}

extension LoadedImage {
    /// Whether both share one array of pixels.
    func sharesPixels(with other: LoadedImage) -> Bool {
        unsafe bitmap.pixels.withUnsafeBufferPointer { one in
            unsafe other.bitmap.pixels.withUnsafeBufferPointer { unsafe $0.baseAddress == one.baseAddress }
        }
    }
}

extension Transport {
    /// Performs a request and returns its error; nil after a success.
    func error(
        for request: TransportRequest, into receiver: any BodyReceiver = RecordingReceiver()
    ) async -> ImageLoadingError? {
        await Result.of { () async throws(ImageLoadingError) in
            try await self.perform(request, into: receiver)
        }.error
    }
}

extension CurlTransport {
    /// Downloads the sample picture under a policy and returns the error; nil after a success.
    func error(_ url: URL, _ policy: SecurityPolicy) async -> ImageLoadingError? {
        let configuration = ImageDownloader.Configuration.with {
            ($0.security, $0.timeouts, $0.retry) = (policy, .patient, .never)
        }
        return await Result.of { () async throws(ImageLoadingError) in
            let file = try await ImageDownloader(configuration: configuration, transport: self)
                .download(ImageRequest(url))
            #expect(file.bytes.array == SampleImages.png)
        }.error
    }
}

extension Uploader {
    /// Uploads a request and returns its error; nil after an answer.
    func error(_ request: UploadRequest) async -> ImageLoadingError? {
        await Result.of { () async throws(ImageLoadingError) in try await self.upload(request) }.error
    }
}

extension Result {
    var error: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
