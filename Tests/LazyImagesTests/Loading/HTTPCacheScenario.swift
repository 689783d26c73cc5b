import FoundationEssentials
import TestSupport

import LazyImages

/// File loaders over one scripted origin, with a disk tier or only memory, and a manual clock.
final class HTTPCacheScenario: Sendable {
    static let address = "http://localhost/a.png"

    let folder: TemporaryFolder
    let transport: HeldTransport
    private let time = Shared(1_767_225_600)
    private let current: Shared<HeldTransport.Answer>
    private let isEphemeral: Bool

    init(isEphemeral: Bool = false, _ fields: HeaderFields = HeaderFields()) throws {
        folder = try TemporaryFolder()
        self.isEphemeral = isEphemeral
        let current = Shared(HeldTransport.Answer(SampleImages.png, fields: fields))
        self.current = current
        transport = HeldTransport { request in
            var answer = current.value
            if answer.head.status == 200, let tag = answer.head.fields["etag"],
                request.fields["if-none-match"] == tag
            {
                answer.head.status = 304
                answer.body = []
            }
            return answer
        }
    }

    /// Sets the origin's answer from now on. The origin sends 304 instead to a request that names the answer's ETag.
    func answer(
        _ status: Int = 200, _ body: [UInt8] = SampleImages.png, _ fields: HeaderFields = HeaderFields()
    ) {
        current.change { $0 = HeldTransport.Answer(body, status: status, fields: fields) }
    }

    func advance(by seconds: Int) { time.change { $0 += seconds } }

    /// A new loader over the same disk folder, as a new process has.
    func loader(anyStatus: Bool = false) -> FileLoader {
        var configuration = ImageDownloader.Configuration.once
        configuration.acceptsAnyStatus = anyStatus
        configuration.acceptsAnyContent = anyStatus
        let clock = WallClock { [time] in time.value }
        return FileLoader(
            memory: isEphemeral ? MemoryCache(limit: 1 << 20) : nil,
            disk: isEphemeral ? nil : DiskCache(folder: folder.file("cache")), configuration: configuration,
            transport: transport, clock: clock)
    }

    var requests: Int { transport.started.count }
    var lastFields: HeaderFields { transport.requests.last?.fields ?? HeaderFields() }

    func request(_ fields: HeaderFields = HeaderFields()) throws -> ImageRequest {
        try ImageRequest(URL(typed: Self.address), options: .init(fields: fields))
    }

    /// Loads the address and returns the source of the file.
    func source(
        _ loader: FileLoader, _ fields: HeaderFields = HeaderFields()
    ) async throws -> LoadedFile.Source {
        try await loader.file(for: request(fields)).source
    }

    /// Loads the address and returns its error; nil after a success.
    func error(
        _ loader: FileLoader, _ fields: HeaderFields = HeaderFields()
    ) async throws -> ImageLoadingError? {
        await loader.error(for: try request(fields))
    }
}
