import Hashing
import ImageCodecs
import LazyImages
import PictureService
import TestSupport
import TestTraits
import Testing

@Suite("Pictures at a size", .bounded)
struct PictureTests {
    private func jpeg(_ width: Int, _ height: Int) throws -> ImageBytes {
        ImageBytes(try Samples.jpeg(width, height))
    }

    private func picture(_ source: ImageBytes, _ recipe: String) throws -> Picture {
        try Picture.picture(of: source, PictureRecipe(recipe))
    }

    /// A maker that decodes small sources at reduced scales, as the service does large ones: from a shorter side of
    /// 168 pixels.
    private func reducing(_ source: ImageBytes) throws -> PictureMaker {
        try PictureMaker(source, sharedSide: 84)
    }

    @Test(
        "the whole picture fits its size, or is cropped to fill it, and is never enlarged",
        arguments: [
            ("w40", 40, 60), ("x30", 20, 30), ("40x40", 27, 40), ("40x40.fill", 40, 40), ("w500", 100, 150),
            ("x9999", 100, 150), ("500x500", 100, 150), ("100x150", 100, 150), ("80x20.fill", 80, 20),
            ("300x300.fill", 100, 100), ("w1", 1, 2),
        ])
    func sizes(recipe: String, width: Int, height: Int) throws {
        let picture = try picture(jpeg(100, 150), recipe)
        let size = ImageSize(width: width, height: height)
        #expect(picture.size == size)
        #expect(picture.format == .jpeg)
        #expect(try ImageDecoders.standard.decode(picture.bytes.array).size == size)
    }

    @Test("both sides are cropped equally")
    func centre() throws {
        // The left third is red, the middle green, the right blue.
        let pixels = (0..<20).flatMap { _ in
            (0..<60).flatMap { x -> [UInt8] in
                x < 20 ? [255, 0, 0, 255] : x < 40 ? [0, 255, 0, 255] : [0, 0, 255, 255]
            }
        }
        let source = ImageBytes(PNGEncoder().encode(Bitmap(width: 60, height: 20, pixels: pixels)))
        let picture = try ImageDecoders.standard.decode(picture(source, "20x20.fill.png").bytes.array)
        #expect(picture.pixels == Array((0..<400).map { _ in [0, 255, 0, 255] as [UInt8] }.joined()))
    }

    @Test("a transparent picture is a PNG, another one a JPEG unless the recipe says otherwise")
    func formats() throws {
        let clear = ImageBytes(Samples.png(30, 30, alpha: 100))
        let opaque = ImageBytes(Samples.png(30, 30))
        #expect(try picture(clear, "w10").format == .png)
        #expect(try picture(clear, "w10.q50").format == .png)
        #expect(try picture(opaque, "w10").format == .jpeg)
        #expect(try picture(opaque, "w10.png").format == .png)
        let decoded = try ImageDecoders.standard.decode(picture(clear, "w10").bytes.array)
        #expect(decoded.pixels.enumerated().allSatisfy { $0 % 4 != 3 || $1 == 100 })
    }

    @Test("steps follow the size; transparency makes a PNG; a step that does not fit is a 400")
    func steps() throws {
        let source = try jpeg(100, 150)
        var maker = try PictureMaker(source)
        func made(_ recipe: String) throws -> Picture { try maker.picture(PictureRecipe(recipe)) }
        let round = try made("w40.round8.pad2")
        #expect(round.format == .png && round.size == ImageSize(width: 44, height: 64))
        let turned = try made("w40.turn90")
        #expect(turned.format == .jpeg && turned.size == ImageSize(width: 60, height: 40))
        let resized = try ImageDecoders.standard.decode(made("w40.png").bytes.array)
        #expect(
            try ImageDecoders.standard.decode(round.bytes.array)
                == (try resized.processed(by: [.roundedCorners(radius: 8), .padding(ImageInsets(2))])))
        let error = #expect(throws: PictureError.self) { try made("w40.crop40-0-5x5") }
        guard case .notProcessable = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(throws: PictureError.self) { try made("w40.pad65535.pad65535") }
        #expect(try made("w40.blur3").size == ImageSize(width: 40, height: 60))
    }

    @Test("the memory of a recipe covers its steps")
    func memoryOfSteps() throws {
        let maker = try PictureMaker(jpeg(100, 150))
        func memory(_ recipe: String) throws -> Int { try maker.memory(for: PictureRecipe(recipe)) }
        #expect(try memory("w40.png.v1") == memory("w40.png"))
        #expect(try memory("w40.blur8.png") > memory("w40.png"))
        #expect(try memory("w40.pad1000") > 2040 * 2060 * 4)
        #expect(try memory("w40.pad1000.turn90") > 2 * 2040 * 2060 * 4)
    }

    @Test("the quality is the recipe's, by default 80")
    func quality() throws {
        let source = try jpeg(100, 150)
        let standard = try picture(source, "w50").bytes.array
        #expect(try standard == picture(source, "w50.q80").bytes.array)
        #expect(try picture(source, "w50.q30").bytes.count < standard.count)
        #expect(try picture(source, "w50.e5.vx").bytes.array == standard)
    }

    @Test("a recipe gives the same bytes alone and together with others")
    func together() throws {
        let source = try jpeg(100, 150)
        let texts = ["w92", "30x30.fill", "original", "w92.png"]
        let recipes = try texts.map { text throws in try PictureRecipe(text) }
        let alone = try recipes.map { recipe throws in try Picture.picture(of: source, recipe).bytes.array }
        for group in [[0, 1, 2, 3], [3, 1, 0]] {
            var maker = try PictureMaker(source)
            let pictures = try group.map { number throws in try maker.picture(recipes[number]) }
            #expect(pictures.map(\.bytes.array) == group.map { alone[$0] })
        }
        #expect(alone[2] == source.array)
    }

    @Test(
        "a maker gives the same bytes in any order, at reduced scales and at the whole, and decodes each once",
        arguments: [(30, 45), (171, 170)])
    func anyOrder(width: Int, height: Int) throws {
        let source = try jpeg(width, height)
        let texts = ["w50", "w11", "original", "w11", "37x37.fill", "w11.png", "50x48.fill"]
        let recipes = try texts.map { text throws in try PictureRecipe(text) }
        let alone = try recipes.map { recipe throws in
            var maker = try reducing(source)
            return try maker.picture(recipe).bytes.array
        }
        for order in [Array(texts.indices), texts.indices.reversed()] {
            var maker = try reducing(source)
            for index in order {
                let before = try maker.memory(for: recipes[index])
                #expect(try maker.picture(recipes[index]).bytes.array == alone[index])
                #expect(try maker.memory(for: recipes[index]) <= before)
            }
        }
    }

    @Test("a maker counts kept planes and a kept bitmap in the memory that another scale needs")
    func keptMemory() throws {
        let (small, large) = (try PictureRecipe("w11"), try PictureRecipe("w50"))
        var maker = try reducing(jpeg(171, 170))
        let alone = try maker.memory(for: large)
        _ = try maker.picture(small)
        // 11 units of two by two blocks of four by four luma samples in each direction, and the chroma at
        // half of that.
        #expect(try maker.memory(for: large) == alone + 11 * 11 * 16 * 6 + 24)
        let png = try PictureRecipe("w11.png")
        _ = try maker.picture(png)
        #expect(try maker.memory(for: large) == alone + 11 * 11 * 16 * 6 + 24 + 86 * 85 * 4)
    }

    @Test("small pictures share a scale of twice a poster of 342; smaller sources are decoded whole")
    func sharedScale() throws {
        let (small, large) = (try PictureRecipe("w92"), try PictureRecipe("w400"))
        let reduced = try PictureMaker(Samples.greyJPEG(1368, 1368))
        #expect(try reduced.memory(for: small) < reduced.memory(for: large))
        #expect(try reduced.memory(for: PictureRecipe("w342")) < reduced.memory(for: large))
        let whole = try PictureMaker(Samples.greyJPEG(1366, 1368))
        #expect(try whole.memory(for: small) > reduced.memory(for: small) * 2)
    }

    @Test("of a damaged source pictures show what there is, and the original is encoded anew")
    func damaged() throws {
        let whole = try jpeg(200, 300).array
        var spoilt = whole
        for index in whole.count / 2..<whole.count / 2 + 40 { spoilt[index] = 0xFF }
        for file in [Array(whole.dropLast(whole.count / 2)), spoilt] {
            var maker = try PictureMaker(ImageBytes(file))
            let original = try maker.picture(PictureRecipe("original"))
            #expect(original.damage != nil && original.size == ImageSize(width: 200, height: 300))
            #expect(try ImageDecoders.standard.decode(original.bytes.array).damage == nil)
            let small = try maker.picture(PictureRecipe("w100"))
            #expect(small.damage == original.damage && small.size == ImageSize(width: 100, height: 150))
        }
    }

    @Test("a reduced picture has the size that follows from the source's full sides")
    func roundedSides() throws {
        // Half of either side is not a whole number. The rounded halves, 86 x 256, would give 42 x 125.
        var maker = try reducing(jpeg(171, 511))
        #expect(try maker.picture(PictureRecipe("w42")).size == ImageSize(width: 42, height: 126))
    }

    @Test("a reduced picture resembles the full one at its size")
    func likeness() throws {
        let source = try jpeg(340, 340)
        let whole = try ImageDecoders.standard.decode(source.array).resized(
            to: ImageSize(width: 50, height: 50))
        var maker = try reducing(source)
        let picture = try ImageDecoders.standard.decode(maker.picture(PictureRecipe("w50.png")).bytes.array)
        #expect(picture.size == whole.size)
        let differences = zip(picture.pixels, whole.pixels).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) < differences.count * 2)
    }

    @Test("a JPEG made of a JPEG resembles the PNG made of it")
    func planes() throws {
        let source = try jpeg(200, 300)
        for recipe in ["w92", "61x40.fill"] {
            let jpeg = try ImageDecoders.standard.decode(picture(source, recipe + ".q95").bytes.array)
            let png = try ImageDecoders.standard.decode(picture(source, recipe + ".png").bytes.array)
            #expect(jpeg.size == png.size)
            let differences = zip(jpeg.pixels, png.pixels).map { abs(Int($0) - Int($1)) }
            #expect(differences.reduce(0, +) < differences.count * 3)
        }
    }

    @Test("a picture without pixels or too large, and other content, are 422, also for the original")
    func refused() throws {
        let whole = try jpeg(200, 300).array
        let cut = ImageBytes(Array(whole.prefix(300)))
        let gif = ImageBytes(Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0])
        for recipe in ["w100", "original"] {
            for source in [cut, gif, ImageBytes([]), ImageBytes(Array("<svg/>".utf8))] {
                let error = #expect(throws: PictureError.self) { try picture(source, recipe) }
                guard case .notDecodable = error else {
                    Issue.record("another error: \(String(describing: error))")
                    return
                }
            }
            #expect(throws: PictureError.notDecodable(.tooLarge(.pixels, value: 60_000, maximum: 100))) {
                var maker = try PictureMaker(ImageBytes(whole), limits: DecodingLimits(pixels: 100))
                return try maker.picture(PictureRecipe(recipe))
            }
        }
    }

    @Test("the key has the content and the recipe, without expiry and tag")
    func key() throws {
        let (one, other) = (SHA256.hash(of: "one").hexadecimal, SHA256.hash(of: "other").hexadecimal)
        func key(_ recipe: String, _ content: String) throws -> SHA256.Digest {
            Picture.key(try PictureRecipe(recipe), ofContent: content)
        }
        #expect(try key("w342", one) == key("w342.q80.e5.v1", one))
        #expect(try key("w342", one) != key("w342", other))
        #expect(try key("w342", one) != key("w342.q81", one))
        #expect(try key("w342", one).hexadecimal.count == 64)
    }
}
