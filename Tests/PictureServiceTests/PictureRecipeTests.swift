import ImageCodecs
import PictureService
import TestTraits
import Testing

@Suite("Recipes", .bounded)
struct PictureRecipeTests {
    @Test(
        "a printed recipe equals the parsed text",
        arguments: [
            "w342", "w1", "w65535", "x513", "342x513", "342x513.fill", "original", "w342.q1", "w342.q80",
            "w342.q100", "w342.png", "342x513.fill.png.e1790000000.v2", "342x513.fill.q60.e1.vA-b_c~9",
            "w342.round12", "w342.circle.border2-ff8000", "342x513.fill.crop0-20-30x40.turn90.mirror.q60",
            "w342.blur8.pad4.png.e5.vx", "w342.pad8-10203040", "w342.turn180.turn270.blur1000",
            "original.e99999999999.v1", "x1.e5", "w92.v" + String(repeating: "a", count: 64),
        ])
    func spelling(text: String) throws { #expect(try PictureRecipe(text).description == text) }

    @Test("each part of a recipe has its meaning")
    func parts() throws {
        let recipe = try PictureRecipe("342x513.fill.q60.e1790000000.vx")
        #expect(recipe.size == .fill(ImageSize(width: 342, height: 513)))
        #expect(recipe.encoding == .automatic(quality: 60))
        #expect(recipe.expiry == 1_790_000_000)
        #expect(recipe.tag == "x")
        let plain = try PictureRecipe("w342")
        #expect(plain.size == .width(342) && plain.encoding == .automatic(quality: nil))
        #expect(plain.expiry == nil && plain.tag == nil)
        #expect(try PictureRecipe("x513.png").encoding == .png)
        #expect(try PictureRecipe("x513.png").size == .height(513))
        #expect(try PictureRecipe("3x5").size == .box(ImageSize(width: 3, height: 5)))
    }

    @Test(
        "another spelling, a repeated or useless part, and a value out of range are refused",
        arguments: [
            "", "w", "x", "w0", "w01", "w+1", "w-1", "w1.5", "W342", "w65536", "w99999999999999999999", "342",
            "342x", "0x5", "5x0", "05x5", "3x4x5", "342X513", "w342x513", "w 342", " w342", "w342 ", "w3４2",
            "Original", "originals", "original.q80", "original.png", "original.fill", "w342.fill", "x5.fill",
            "342x513.Fill", "342x513.fill.fill", "w342.q0", "w342.q101", "w342.q", "w342.q080",
            "w342.q80.q80",
            "w342.q80.png", "w342.png.q80", "w342.png.png", "w342.jpg", "w342.e", "w342.e0", "w342.e01",
            "w342.e-1", "w342.e100000000000", "w342.e5.e5", "w342.v", "w342.v1.v2", "w342.v1.e5",
            "w342.e5.q80",
            "w342.va b", "w342.va%20", "w342.vé", "w342.va/b", "w342.", ".w342", "w342..q80", "w342.q80.",
            "w342.round", "w342.round0", "w342.round012", "w342.round1.5", "w342.circle1", "w342.Circle",
            "w342.blur0", "w342.blur1001", "w342.mirror1", "w342.turn", "w342.turn0", "w342.turn45",
            "w342.turn090", "w342.border2", "w342.border0-ff8000", "w342.border2-FF8000",
            "w342.border2-ff80", "w342.border2-ff8000ff", "w342.border2-ff8000-", "w342.pad0", "w342.pad",
            "w342.pad2-", "w342.crop0-0-3", "w342.crop00-0-3x4", "w342.crop0-0-0x4", "w342.crop0-0-w3",
            "w342.crop-1-0-3x4", "w342.pad8-00000000", "w342.round12.fill", "w342.q80.round12",
            "original.round12",
            "w342" + String(repeating: ".mirror", count: 9),
            "w342:q80", "w342.v" + String(repeating: "a", count: 65),
        ])
    func malformed(text: String) {
        let error = #expect(throws: PictureError.self) { try PictureRecipe(text) }
        if case .malformedRecipe(text, _) = error { return }
        Issue.record("\(text): \(String(describing: error))")
    }

    @Test(
        "the error names the part that is wrong",
        arguments: [
            "w342.blur0": "blur0", "342": "342", "": "", "w342.fill": "fill", "w342.q80.round12": "round12",
            "original.mirror": "mirror", "w342.q101": "q101", "w342.q080": "q080", "w342.e0.v1": "e0",
            "w342.va b": "va b", "w342..q80": "", "w342.pad8-00000000": "pad8-00000000",
            "w342.mirror.mirror.mirror.mirror.mirror.mirror.mirror.mirror.flip": "flip",
        ])
    func part(text: String, part: String) {
        #expect(throws: PictureError.malformedRecipe(text, part: part)) { try PictureRecipe(text) }
    }

    @Test("expiry and tag do not change the picture, and naming the default quality does not either")
    func derivation() throws {
        func derivation(_ text: String) throws -> String { try PictureRecipe(text).derivation }
        for text in ["w342", "w342.q80", "w342.e5", "w342.v2", "w342.q80.e9.vx"] {
            #expect(try derivation(text) == "w342.q80")
        }
        #expect(try derivation("342x513.fill.q60.v1") == "342x513.fill.q60")
        #expect(try derivation("x5.png.e5") == "x5.png")
        #expect(try derivation("original.v9") == "original")
        let different = try ["w342", "x342", "342x342", "342x342.fill", "w342.q79", "w342.png", "original"]
            .map(derivation)
        #expect(Set(different).count == different.count)
    }

    @Test("steps have their order and their meaning, and a border follows the corners before it")
    func steps() throws {
        func processors(_ text: String) throws -> [ImageProcessor] {
            try PictureRecipe(text).steps
        }
        let orange = ImageColor(red: 255, green: 128, blue: 0)
        #expect(
            try processors("w342.crop1-2-3x4.round12.border2-ff8000.pad8") == [
                .crop(ImageRect(x: 1, y: 2, width: 3, height: 4)), .roundedCorners(radius: 12),
                .border(orange, width: 2, cornerRadius: 12), .padding(ImageInsets(8)),
            ])
        #expect(
            try processors("w342.circle.border2-ff8000.turn90.mirror.blur8") == [
                .circle(), .border(orange, width: 2, cornerRadius: .infinity), .rotate(90),
                .flip(.horizontal), .gaussianBlur(radius: 8),
            ])
        #expect(
            try processors("w342.pad1-ff800040") == [
                .padding(ImageInsets(1), background: ImageColor(red: 255, green: 128, blue: 0, alpha: 64))
            ])
        #expect(try PictureRecipe("w342.circle.blur8.v1").derivation == "w342.circle.blur8.q80")
        #expect(try PictureRecipe("w342.circle.e5.v1").asPNG.description == "w342.circle.png.e5.v1")
    }

    @Test("a recipe made of values has the text of its values, and equals what the text gives")
    func values() throws {
        let orange = ImageColor(red: 255, green: 128, blue: 0)
        let box = ImageSize(width: 342, height: 513)
        let recipe = try PictureRecipe(
            .fill(box),
            steps: [
                .crop(ImageRect(x: 0, y: 2, width: 300, height: 400)), .rotate(270), .circle(),
                .border(orange, width: 2, cornerRadius: .infinity), .gaussianBlur(radius: 8),
                .flip(.horizontal), .flip(.vertical), .padding(1, background: .white),
            ], encoding: .automatic(quality: 60), expiry: 1_790_000_000, tag: "x")
        let text =
            "342x513.fill.crop0-2-300x400.turn270.circle.border2-ff8000.blur8.mirror.flip.pad1-ffffff.q60"
            + ".e1790000000.vx"
        #expect(recipe.description == text)
        #expect(try PictureRecipe(text) == recipe)
        #expect(try PictureRecipe(.original).description == "original")
        #expect(try PictureRecipe(.box(box), encoding: .png).description == "342x513.png")
    }

    @Test("values out of range, and settings without effect, are refused with the text they would have")
    func refusedValues() {
        func refuses(
            _ text: String, _ part: String, _ size: PictureRecipe.Size = .width(342),
            _ steps: [ImageProcessor] = [], _ encoding: PictureRecipe.Encoding = .automatic(),
            expiry: Int? = nil, tag: String? = nil
        ) {
            #expect(throws: PictureError.malformedRecipe(text, part: part)) {
                try PictureRecipe(size, steps: steps, encoding: encoding, expiry: expiry, tag: tag)
            }
        }
        /// A step whose text is refused, as the whole part of a recipe.
        func refuses(_ step: ImageProcessor, _ text: String) {
            refuses("w342.\(text)", text, .width(342), [step])
        }
        refuses("w0", "w0", .width(0))
        refuses("x-1", "x-1", .height(-1))
        refuses("w\(Int.max)", "w\(Int.max)", .width(.max))
        refuses("5x0", "5x0", .box(ImageSize(width: 5, height: 0)))
        refuses("original.mirror", "mirror", .original, [.flip(.horizontal)])
        refuses("original.png", "png", .original, [], .png)
        refuses(.roundedCorners(radius: 0), "round0")
        refuses(.gaussianBlur(radius: 1001), "blur1001")
        refuses(.crop(ImageRect(x: -1, y: 0, width: 3, height: 4)), "crop-1-0-3x4")
        refuses(.crop(ImageRect(x: 0, y: 0, width: .min, height: 4)), "crop0-0-\(Int.min)x4")
        refuses(.padding(-8), "pad-8")
        refuses(.grayscale, "grayscale")
        refuses(.roundedCorners(radius: .infinity), "rounded corners inf")
        refuses(.padding(ImageInsets(top: 1)), "padding 1,0,0,0 00000000")
        refuses(ImageProcessor("mirror") { $0 }, "custom mirror")
        refuses(.rotate(45), "turn45")
        refuses(.border(.white, width: 2, cornerRadius: .infinity), "border ffffffff 2 inf")
        refuses(.resize(width: 3), "resize 3x65535")
        refuses(
            "w342" + String(repeating: ".mirror", count: 9), "mirror", .width(342),
            Array(repeating: .flip(.horizontal), count: 9))
        refuses("w342.q101", "q101", .width(342), [], .automatic(quality: 101))
        refuses("w342.e0", "e0", expiry: 0)
        refuses("w342.v", "v", tag: "")
        refuses("w342.v1.png", "png", tag: "1.png")
    }
}
