import ImageCodecs
import LazyImages
import PictureService
import TestSupport
import TestTraits
import Testing

@Suite("A loader's pictures at a size", .bounded)
struct FileLoaderPictureTests {
    @Test("a picture has the bytes that the service makes of the file, with type and size")
    func made() async throws {
        let source = try Samples.jpeg(120, 90)
        let loader = FileLoader.ephemeral()
        let request = ImageRequest(id: "sample") { source }
        let picture = try await loader.picture(for: request, PictureRecipe("60x60.fill.q70"))
        #expect(picture.header == ImageHeader(format: .jpeg, size: ImageSize(width: 60, height: 60)))
        let expected = try Picture.picture(of: ImageBytes(source), PictureRecipe("60x60.fill.q70"))
        #expect(picture.bytes.array == expected.bytes.array)
        #expect(try await loader.picture(for: request, PictureRecipe(.original)).bytes.array == source)
    }

    @Test("a step that does not fit is an error, and a damaged image makes a picture with its damage")
    func refused() async throws {
        let loader = FileLoader.ephemeral()
        let whole = try Samples.jpeg(60, 60)
        let request = ImageRequest(id: "sample") { whole }
        let outside = try PictureRecipe(
            .width(20), steps: [.crop(ImageRect(x: 30, y: 0, width: 5, height: 5))])
        let error = await #expect(throws: ImageLoadingError.self) {
            try await loader.picture(for: request, outside)
        }
        guard case .processingFailed(_, .unsuitable) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        // The file has its end, and corrupt data within.
        var damaged = try Samples.jpeg()
        for index in damaged.count / 2..<damaged.count / 2 + 40 { damaged[index] = 0xFF }
        let torn = ImageRequest(id: "broken") { [damaged] in damaged }
        let shown = try await loader.picture(for: torn, PictureRecipe("w20"))
        #expect(shown.damage != nil && shown.header?.size == ImageSize(width: 20, height: 30))
        let strict = ImageRequest(id: "broken", options: .init(acceptsDamage: false)) { [damaged] in damaged }
        await #expect(throws: ImageLoadingError.self) {
            try await loader.picture(for: strict, PictureRecipe("w20"))
        }
    }
}
