import HTTPSemantics
import ImageCodecs
import PictureService
import TestTraits
import Testing

@testable import PictureServer

@Suite("Freshness of the service's answers", .bounded)
struct PictureFreshnessTests {
    private func address(_ recipe: String, isSigned: Bool = false) throws -> KnownAddress {
        KnownAddress(
            try PictureRecipe(recipe),
            of: .address(try PictureSource("https://images.example/a"), isSigned: false), isSigned: isSigned)
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
        let record = try record(age: age)
        #expect(PictureFreshness.control(of: address, record, now: 1_790_000_000) == control)
    }

    @Test(
        "a stored picture is immutable under its present tag; else it is as fresh as its owner says, if it has no end",
        arguments: [
            ("w342", "max-age=5"), ("w342.v2", "max-age=5"), ("w342.e1790000020", "no-cache"),
            ("w342.e1790000020.v2", "no-cache"), ("w342.v1", "public, max-age=31536000, immutable"),
            ("w342.e1790000020.v1", "public, max-age=20, immutable"),
        ])
    func stored(recipe: String, control: String) throws {
        let original = StoredOriginal(name: "a", tag: "1", cacheControl: "max-age=5") { [] }
        let address = KnownAddress(try PictureRecipe(recipe), of: .stored(original))
        #expect(
            PictureFreshness.control(of: address, try record(age: 70), now: 1_790_000_000) == control)
    }

    private func record(
        age: Int, lifetime: Int = 60, control: String = "", mayBeKept: Bool = true
    ) throws -> SourceRecord {
        SourceRecord(
            content: String(repeating: "0", count: 64), byteCount: 1, format: .jpeg,
            size: ImageSize(width: 1, height: 1), control: [control], received: 1_790_000_000,
            initialAge: age,
            lifetime: lifetime, mayBeKept: mayBeKept)
    }

    @Test("a picture forbids storing and stale use downstream if its source forbids them")
    func restricted() throws {
        let plain = try address("w342")
        for (control, tail) in [
            ("must-revalidate", ", must-revalidate"), ("proxy-revalidate", ", must-revalidate"),
            ("s-maxage=60", ", must-revalidate"), ("no-cache", ", must-revalidate"), ("max-age=60", ""),
        ] {
            #expect(
                PictureFreshness.control(of: plain, try record(age: 10, control: control), now: 1_790_000_000)
                    == "public, max-age=50" + tail, "\(control)")
        }
        for recipe in ["w342", "w342.v1", "w342.e1790000020"] {
            #expect(
                PictureFreshness.control(
                    of: try address(recipe, isSigned: true), try record(age: 0, mayBeKept: false),
                    now: 1_790_000_000)
                    == "no-store")
        }
    }

    @Test("a failure is stored only if it is the source's own")
    func failures() {
        for status in 400...599 {
            let isOwn = [404, 410, 422].contains(status)
            #expect(
                PictureFreshness.control(ofFailure: HTTPStatus(rawValue: status))
                    == (isOwn ? "public, max-age=60" : "no-store"))
        }
    }
}
