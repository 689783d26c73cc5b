import TestSupport
import Testing

@testable import LazyImages

@Suite("Faults of servers", .timeLimit(.minutes(10)))
struct OriginFaultTests {
    /// Enough for an honest answer on a busy machine, and little enough to wait for.
    private static let patience = Duration.seconds(2)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "ends in the right picture or in an error that says so, in time, with nothing wrong stored",
        arguments: OriginFault.all)
    func ends(fault: OriginFault) async throws {
        let origin = try ScriptedOrigin(fault.steps)
        var configuration = ImageDownloader.Configuration()
        configuration.maximumBytes = 100_000
        configuration.timeouts = Timeouts(each: Self.patience)
        configuration.timeouts.total = Self.patience * 4
        let loader = FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: configuration,
            transport: CurlTransport())
        let request = ImageRequest(url: origin.url())
        let start = ContinuousClock.now
        let outcome: OriginFault.Outcome
        do throws(ImageLoadingError) {
            let file = try await loader.file(for: request)
            #expect(file.bytes.array == SampleImages.png)
            outcome = .picture
        } catch {
            outcome = .error([error.code])
        }
        // Not one of the default timeouts, of which the shortest is 10 s after the last arrival.
        #expect(ContinuousClock.now - start < .seconds(60))
        switch (fault.outcome, outcome) {
        case (.picture, .picture): break
        case (.error(let expected), .error(let found)): #expect(found.isSubset(of: expected))
        default: Issue.record("\(fault.name): \(outcome) instead of \(fault.outcome)")
        }
        await loader.flush()
        let isStored = outcome == .picture
        // That there is no picture may be remembered, and never as one.
        #expect((loader.cachedFile(for: request) != nil) == isStored)
        let stored = await DiskCache(folder: folder.file("cache")).entry(for: request.storageKey)
        #expect(stored?.body.array ?? [] == (isStored ? SampleImages.png : []))
        #expect(await DiskCache(folder: folder.file("cache")).verify().entries <= 1)
    }

    @Test("there are at least sixty of them, each with a name of its own")
    func count() {
        #expect(OriginFault.all.count >= 60)
        #expect(Set(OriginFault.all.map(\.name)).count == OriginFault.all.count)
    }
}
