import HTTPSemantics
import PictureService
import TestTraits
import Testing

@testable import LazyImages
@testable import PictureServer

@Suite("Freshness of the service's answers", .bounded)
struct PictureFreshnessTests {
    private func address(_ recipe: String, isSigned: Bool = false) throws -> KnownAddress {
        KnownAddress(
            try PictureRecipe(recipe),
            of: PictureOriginal(try PictureSource("https://images.example/a")), isSigned: isSigned)
    }

    @Test(
        "a picture is fresh as long as its source, with a signed tag for a year, and never past its expiry",
        arguments: [
            ("w342", false, 10, "public, max-age=50"), ("w342", true, 70, "public, max-age=0"),
            ("w342.v1", false, 10, "public, max-age=50"),
            ("w342.v1", true, 70, "public, max-age=31536000, immutable"),
            ("w342.e1790000020", true, 10, "public, max-age=20"),
            ("w342.e1790000020.v1", false, 10, "public, max-age=20"),
            ("w342.e1790000020.v1", true, 10, "public, max-age=20, immutable"),
            ("w342.e1790000900", true, 10, "public, max-age=50"),
            ("w342.e5", true, 10, "public, max-age=0"),
        ])
    func ownControl(recipe: String, isSigned: Bool, age: Int, control: String) throws {
        let address = try address(recipe, isSigned: isSigned)
        #expect(PictureFreshness.control(of: address, try served(age: age), now: 1_790_000_000) == control)
    }

    @Test(
        "a stored picture is immutable under its present tag; else it is as fresh as its owner says, if it has no end",
        arguments: [
            ("w342", "max-age=5"), ("w342.v2", "max-age=5"), ("w342.e1790000020", "no-cache"),
            ("w342.e1790000020.v2", "no-cache"), ("w342.v1", "public, max-age=31536000, immutable"),
            ("w342.e1790000020.v1", "public, max-age=20, immutable"),
        ])
    func stored(recipe: String, control: String) throws {
        let original = PictureOriginal(name: "a", tag: "1", cacheControl: "max-age=5") { [] }
        let address = KnownAddress(try PictureRecipe(recipe), of: original)
        #expect(
            PictureFreshness.control(of: address, try served(age: 70), now: 1_790_000_000) == control)
    }

    /// A picture whose source has this age, of 60 s.
    private func served(age: Int) throws -> ServedPicture {
        let answer = ResponseHead(
            status: 200, fields: ["Cache-Control": "max-age=60", "Age": "\(age)"])
        let file = LoadedFile(
            bytes: ImageBytes([1]), header: nil, status: 200, url: url, requestedURL: url, source: .network,
            response: StoredResponse(answer, address: url.absoluteString, received: 1_790_000_000))
        return ServedPicture(
            picture: file, name: try address("w342").name(of: file), record: file,
            status: .hit(file, now: 1_790_000_000))
    }

    private let url = ImageRequest("https://images.example/a").url
}
