import FoundationEssentials
import HTTPSemantics
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

/// The parameters of every loader, private ones too. `CustomFormatTests` has those for decoders,
/// `MemoryPressureTests` those for memory pressure.
@Suite("The parameters of loaders", .bounded)
struct LoaderParametersTests {
    private let transport = HeldTransport { _ in .fresh(SampleImages.png) }
    private let request: ImageRequest

    init() throws { request = ImageRequest("http://localhost/a.png") }

    @Test("each uses its clock")
    func clock() async throws {
        let time = Shared(1_767_225_600)
        let clock = WallClock { time.value }
        let files = [
            FileLoader(disk: nil, transport: transport, clock: clock),
            .ephemeral(transport: transport, clock: clock),
        ]
        let images = [
            ImageLoader(disk: nil, transport: transport, pressure: nil, clock: clock),
            .ephemeral(transport: transport, pressure: nil, clock: clock),
            ImageLoader(
                files: FileLoader(disk: nil, transport: transport, clock: clock), pressure: nil),
        ]
        for (seconds, transfers) in [(0, 5), (3_599, 5), (3_601, 10)] {
            time.change { $0 = 1_767_225_600 + seconds }
            for loader in files { _ = try await loader.file(for: request) }
            for loader in images { _ = try await loader.image(for: request) }
            #expect(transport.started.count == transfers)
        }
    }

    @Test("a clock that is wrong by any amount stops no load")
    func wrongClocks() async {
        await #expect(processExitsWith: .success) {
            let now = HTTPDate.format(1_767_225_600)
            let transport = HeldTransport { _ in
                HeldTransport.Answer(
                    SampleImages.png,
                    fields: ["Date": now, "Expires": now, "Last-Modified": now, "Age": "5", "ETag": "\"a\""])
            }
            let time = Shared(0)
            let folder = try TemporaryFolder()
            let loader = FileLoader(
                disk: DiskCache(folder: folder.file("cache")), transport: transport,
                clock: WallClock { time.value })
            let request = ImageRequest("http://localhost/a.png")
            for seconds in [Int.min, .max, 0, .min, -1, .max, .min + 1, .max - 1] {
                time.change { $0 = seconds }
                _ = try await loader.file(for: request)
                await loader.flush()
            }
        }
    }

    @Test("each uses its decoding limits")
    func limits() async throws {
        let limits = DecodingLimits(pixels: 5)
        for loader in [
            ImageLoader(disk: nil, decodingLimits: limits, transport: transport, pressure: nil),
            .ephemeral(decodingLimits: limits, transport: transport, pressure: nil),
        ] {
            let reason = ImageDecodingError.tooLarge(.pixels, value: 6, maximum: 5)
            await #expect(throws: ImageLoadingError.undecodable(url: request.url.displayText, reason: reason))
            { _ = try await loader.image(for: request) }
        }
    }
}
