import TestSupport
import Testing

@testable import LazyImages

@Suite("Faults of servers", .timeLimit(.minutes(30)))
struct OriginFaultTests {
    /// How long a server that stalls is waited for.
    private static let patience = Duration.milliseconds(300)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "ends in the right picture or in an error that says so, in time, with nothing wrong stored",
        arguments: OriginFault.all)
    func ends(fault: OriginFault) async throws {
        let origin = try ScriptedOrigin(fault.steps)
        var configuration = ImageDownloader.Configuration()
        configuration.maximumBytes = 100_000
        // No timeout ends what ends by itself: one that did would be the wrong error.
        let isStall = fault.outcome == .error(["timed-out"])
        configuration.timeouts = isStall ? Timeouts(each: Self.patience) : .patient
        let loader = FileLoader(
            disk: DiskCache(folder: folder.file("cache")), configuration: configuration,
            transport: CurlTransport())
        let request = ImageRequest(url: origin.url())
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
