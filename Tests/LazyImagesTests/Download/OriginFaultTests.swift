import TestSupport
import TestTraits
import Testing

import LazyImages

@Suite("Faults of servers", .bounded)
struct OriginFaultTests {
    /// The limit for a server that stalls.
    private static let patience = Duration.milliseconds(300)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "each ends in time with the right picture or the right error, and nothing wrong is stored",
        arguments: OriginFault.all)
    func ends(fault: OriginFault) async throws {
        let origin = try ScriptedOrigin(fault.steps)
        var configuration = ImageDownloader.Configuration()
        configuration.maximumBytes = 100_000
        // A fault that ends by itself must not end by a timeout, which would be the wrong error.
        let isStall = fault.outcome == .error(["timed-out"])
        configuration.timeouts = isStall ? Timeouts(each: Self.patience) : .patient
        let loader = FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: configuration,
            transport: CurlTransport())
        let request = ImageRequest(origin.url())
        let outcome: OriginFault.Outcome
        do throws(ImageLoadingError) {
            let file = try await loader.file(for: request)
            #expect(file.bytes.array == SampleImages.png)
            outcome = .picture
        } catch {
            outcome = .error([error.code])
        }
        switch (fault.outcome, outcome) {
        case (.picture, .picture): break
        case (.error(let expected), .error(let found)): #expect(found.isSubset(of: expected))
        default: Issue.record("\(fault.name): \(outcome) instead of \(fault.outcome)")
        }
        await loader.flush()
        let isStored = outcome == .picture
        // A missing picture may be stored as missing, never as a picture.
        #expect((loader.cachedFile(for: request) != nil) == isStored)
        let stored = await DiskCache(folder: folder.file("cache")).entry(for: request.key)
        #expect(stored?.body.array ?? [] == (isStored ? SampleImages.png : []))
        #expect(await DiskCache(folder: folder.file("cache")).verify().entries <= 1)
    }
}
