import FoundationEssentials
import ImageCodecs
import TestSupport
import TestTraits
import Testing

import LazyImages

/// What a log and a dialog show.
@Suite("Descriptions", .bounded)
struct DescriptionTests {
    private let bitmap = Bitmap(width: 500, height: 750, pixels: Array(repeating: 7, count: 500 * 750 * 4))

    @Test("a bitmap, an image, a file, a request and a row's state are one short line without secrets")
    func lines() throws {
        let url = try #require(URL(string: "https://example.org/1.png"))
        let image = LoadedImage(
            bitmap: bitmap, header: ImageHeader(format: .png, size: bitmap.size), url: url, source: .network)
        #expect("\(bitmap)" == "Bitmap 500 x 750" && "\(bitmap.size)" == "500 x 750")
        #expect("\(image)" == "500 x 750, network, https://example.org/1.png")
        #expect("\(RowState.loaded(image))" == "loaded(500 x 750, network, https://example.org/1.png)")
        #expect("\(RowState.loading(progress: .init(received: 1, expected: 2), preview: nil))".count < 200)
        let preview = ImagePreview(bitmap: bitmap, number: 1)
        #expect("\(ImageTask.Event.preview(preview))".contains("Bitmap 500 x 750"))
        let file = LoadedFile(bytes: ImageBytes([1, 2]), header: nil, url: url)
        #expect("\(file)" == "2 bytes, local, https://example.org/1.png")
        let request = ImageRequest(
            "https://anna:s3cret@example.org/1.png", targetSize: ImageSize(width: 20, height: 30),
            processors: [.circle()], options: .init(fields: ["Authorization": "Bearer s3cret"]))
        #expect("\(request)" == "https://example.org/1.png, 20 x 30, circle")
    }

    @Test("a row's update is one line")
    func update() async throws {
        let loader = HeldLoader(memory: ["a"])
        let model = ImageListModel(
            loader: loader, rows: [ImageRequest("https://example.org/a")], pressure: nil)
        model.setVisible(0..<1)
        var updates = model.updates.makeAsyncIterator()
        let update = try #require(await updates.next())
        let line = "\(update)"
        #expect(line.hasPrefix("rows [0]: ") && line.count < 300 && !line.contains("\n"))
    }

    @Test("each public error has its line as the localized description that a dialog shows")
    func errors() {
        func expectLine(_ error: some LocalizedError & CustomStringConvertible) {
            #expect(error.errorDescription == error.description && !error.description.isEmpty)
        }
        expectLine(ImageLoadingError.empty(url: "https://example.org/a"))
        expectLine(ImageDecodingError.truncated(offset: 7))
        expectLine(ImageProcessingError.failed(processor: "sepia", reason: "no"))
        expectLine(ImageEncodingError.transparent)
        expectLine(SharedTierError.noKey)
    }

    @Test(
        "a bitmap whose pixels do not fit its sides is nil",
        arguments: [(0, 1), (1, 0), (-1, -1), (2, 2), (1, 3), (Int.max, Int.max), (Int.max, 2), (3, 1)])
    func unfitting(width: Int, height: Int) {
        #expect(Bitmap(exactly: Array(repeating: 0, count: 8), width: width, height: height) == nil)
        #expect(Bitmap(exactly: Array(repeating: 0, count: 9), width: 2, height: 1) == nil)
        #expect(Bitmap(exactly: Array(repeating: 0, count: 8), width: 2, height: 1)?.size.width == 2)
    }
}
