import ImageCodecs
import LazyImages
import PictureService
import Testing

@Suite("A loader's pictures at a size", .timeLimit(.minutes(10)))
struct FileLoaderPictureTests {
    @Test("they have the bytes that are made of the file, and say what they are")
    func made() async throws {
        let source = try Samples.jpeg(120, 90)
        let loader = FileLoader.ephemeral()
        let request = ImageRequest(id: "sample") { source }
        let picture = try await loader.picture(for: request, "60x60.fill.q70")
        #expect(picture.header == ImageHeader(format: .jpeg, size: ImageSize(width: 60, height: 60)))
        let expected = try Picture.picture(of: ImageBytes(source), PictureRecipe("60x60.fill.q70"))
        #expect(picture.bytes.array == expected.bytes.array)
        #expect(try await loader.picture(for: request, "original").bytes.array == source)
    }

    @Test("what is no recipe, and what is no whole picture, is said")
    func refused() async throws {
        let loader = FileLoader.ephemeral()
        let whole = try Samples.jpeg(60, 60)
        let request = ImageRequest(id: "sample") { whole }
        await #expect(throws: PictureError.malformedRecipe("large")) {
            try await loader.picture(for: request, "large")
        }
        // All there by its end, and damaged within.
        var damaged = whole
        for index in damaged.count - 200..<damaged.count - 2 { damaged[index] = 0xFF }
        let broken = ImageRequest(id: "broken") { [damaged] in damaged }
        await #expect(throws: ImageLoadingError.self) { try await loader.picture(for: broken, "w20") }
    }
}
