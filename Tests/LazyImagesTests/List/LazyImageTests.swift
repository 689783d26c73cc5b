import ImageCodecs
import LazyImages
import Observation
import TestSupport
import TestTraits
import Testing

@Suite("One image for a view", .bounded)
struct LazyImageTests {
    private let grey = Bitmap(width: 1, height: 1, pixels: [128, 128, 128, 255])
    private let red = Bitmap(width: 1, height: 1, pixels: [255, 0, 0, 255])
    private let transport = HeldTransport()
    private let loader: ImageLoader

    init() { loader = .ephemeral(transport: transport, pressure: nil) }

    private func request(_ name: String) -> ImageRequest { ImageRequest("https://example.org/\(name).png") }

    @Test("it shows the placeholder, then the image, and tells who observes it")
    func loaded() async throws {
        let image = LazyImage(loader, placeholder: grey, failurePicture: red)
        #expect(image.bitmap == grey && image.state.text == "placeholder")
        image.load(request("a"))
        #expect(image.bitmap == grey && image.state.text == "loading 0" && image.isLoading)
        let changes = Tally()
        withObservationTracking {
            _ = image.bitmap
        } onChange: {
            changes.add()
        }
        try await transport.transfer().answer(SampleImages.png)
        try await changes.wait(for: 1)
        try await eventually { image.state.text == "a.png" }
        #expect(image.bitmap == loader.cachedImage(for: request("a"))?.bitmap)
        #expect(image.image?.bitmap == image.bitmap && !image.isLoading && image.error == nil)
        let later = LazyImage(loader)
        later.load(request("a"))
        #expect(later.state.text == "a.png", "memory has it")
        later.load(request("a"))
        later.load(nil)
        #expect(later.bitmap == nil && later.state.text == "placeholder")
    }

    @Test("a failure has its picture, and a retry loads again")
    func failed() async throws {
        let image = LazyImage(loader, placeholder: grey, failurePicture: red)
        image.retry()
        image.load(request("a"))
        try await transport.transfer(0).answer([], status: 404)
        try await eventually { image.bitmap == red }
        #expect(image.state.text == "failed http-status" && image.error?.code == "http-status")
        #expect(image.image == nil && !image.isLoading)
        image.retry()
        #expect(image.state.text == "loading 0")
        // The failure is remembered, and the retry asks the server all the same.
        try await transport.transfer(1).answer(SampleImages.png)
        try await eventually { image.state.text == "a.png" }
    }

    @Test("another request cancels the first load, whose end changes nothing")
    func replaced() async throws {
        let image = LazyImage(loader, placeholder: grey)
        image.load(request("a"))
        let first = try await transport.transfer(0)
        image.load(request("b"))
        first.answer(SampleImages.jpeg)
        try await transport.transfer(1).answer(SampleImages.png)
        try await eventually { image.state.text == "b.png" }
    }

    @Test("releasing it cancels its load")
    func released() async throws {
        var image: LazyImage? = LazyImage(loader)
        image?.load(request("a"))
        let transfer = try await transport.transfer(0)
        #expect(loader.files.downloader.transferCount == 1)
        image = nil
        try await eventually { loader.files.downloader.transferCount == 0 }
        withExtendedLifetime(transfer) {}
    }
}
