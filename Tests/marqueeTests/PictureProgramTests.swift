import FoundationEssentials
import Glibc
import ImageCodecs
import LazyImages
import PictureServer
import PictureService
import TestSupport
import TestTraits
import Testing

@Suite("marquee picture and marquee sign", .bounded)
struct PictureProgramTests {
    private static let url = "https://example.org/a.jpg"

    /// A folder with JPEGs of these names, 60 x 90 pixels each.
    private func folder(_ names: String...) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (index, name) in names.enumerated() {
            let blue = UInt8(index * 20)
            var pixels: [UInt8] = []
            for y in UInt8(0)..<90 { for x in UInt8(0)..<60 { pixels += [x, y, blue, 255] } }
            let file = try JPEGEncoder().encode(Bitmap(width: 60, height: 90, pixels: pixels))
            try folder.write(file, to: name)
        }
        return folder
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    private func run(_ words: String..., input: String = "") async throws -> Program.Outcome {
        try await Program.run(words + ["--no-disk-cache"], input: input)
    }

    @Test("a file is resized, byte for byte as the library does")
    func one() async throws {
        let folder = try folder("a.jpg")
        let out = folder.file("out.jpg")
        let run = try await run("picture", folder.file("a.jpg"), "w30.q70", "-o", out, "--json", "--checksum")
        #expect(run.status == 0 && run.errors.isEmpty)
        let source = ImageBytes(try bytes(folder.file("a.jpg")))
        let expected = try Picture.picture(of: source, PictureRecipe("w30.q70")).bytes
        #expect(try bytes(out) == expected.array)
        let record = try JSON.object(run.text)
        #expect(record["file"] as? String == out)
        #expect(record["width"] as? Int == 30 && record["height"] as? Int == 45)
        #expect(record["bytes"] as? Int == expected.count)
        #expect(record["sha256"] as? String == expected.checksum)
    }

    @Test(
        "several files go into a folder, from operands and standard input, with the extension of their format"
    )
    func many() async throws {
        let folder = try folder("a.jpg", "b.jpg", "c.jpg")
        try folder.write(bytes(folder.file("c.jpg")), to: "d/a.jpg")
        let out = folder.file("out")
        let run = try await run(
            "picture", folder.file("a.jpg"), "-", "20x20.fill.png", "-o", out, "--quiet",
            input: "# two more\n\(folder.file("b.jpg"))\n\(folder.file("d/a.jpg"))\n")
        #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: out).sorted() == [
                "a-2.png", "a.png", "b.png",
            ])
        let size = ImageSize(width: 20, height: 20)
        #expect(try ImageDecoders.standard.decode(bytes(out + "/a-2.png")).size == size)
    }

    @Test(
        "standard input is one picture if it begins like one, and so is a pipe",
        arguments: [
            "marquee picture - w30.q70 -o out.jpg < a.jpg",
            "cat a.jpg | marquee picture - w30.q70 -o out.jpg",
            "cat a.jpg | marquee picture /dev/stdin w30.q70 -o out.jpg",
            "cat a.jpg | marquee picture - w30.q70 -o - > out.jpg",
            "cat a.jpg | marquee picture - w30.q70 -o made/ && mv made/picture.jpg out.jpg",
            "mkfifo p && { cat a.jpg > p & marquee picture ./p w30.q70 -o out.jpg; }",
            "cat a.jpg | marquee picture b.jpg - w30.q70 -o made && mv made/picture.jpg out.jpg",
            "bash -c 'marquee picture <(cat a.jpg) w30.q70 -o out.jpg'",
        ])
    func piped(line: String) async throws {
        let folder = try folder("a.jpg", "b.jpg")
        let run = try await Program.shell(line, in: folder)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errorText)")
        #expect(!run.text.contains("/proc/"), "\(run.text)")
        let expected = try Picture.picture(
            of: ImageBytes(try bytes(folder.file("a.jpg"))), PictureRecipe("w30.q70"))
        #expect(try bytes(folder.file("out.jpg")) == expected.bytes.array)
    }

    @Test(
        "standard input that is no picture is one line, and so is its file as the output",
        arguments: [
            ("picture - w30 -o out.jpg < /dev/null", "standard input: the file is empty"),
            ("picture - w30 -o out < /dev/null", "standard input: the file is empty"),
            ("picture - w30 -o out.jpg < text", "standard input: not an image: it is a web page"),
            (
                "picture - w30 -o - < text",
                "standard input: cannot be decoded: not an image of a known format"
            ),
            ("picture /dev/stdin w30 -o out.jpg < /dev/null", "/dev/stdin: the file is empty"),
            (
                "picture - w30 -o out < zeros",
                "standard input: this is no list of addresses, one a line; marquee show - shows a picture"
            ),
            (
                "picture /dev/stdin w30 -o out < zeros",
                "file:///dev/stdin: not an image: its first bytes match no known format"
            ),
            ("picture - w30 -o a.jpg < a.jpg", "a.jpg: this is the source itself; name another file with -o"),
        ])
    func unusable(line: String, message: String) async throws {
        let folder = try folder("a.jpg")
        try folder.write([0, 0, 0, 0], to: "zeros")
        try folder.write("<html>".utf8, to: "text")
        let before = try bytes(folder.file("a.jpg"))
        let run = try await Program.shell("marquee \(line)", in: folder)
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.errorText == "marquee: \(message)\n")
        #expect(try bytes(folder.file("a.jpg")) == before)
    }

    @Test("an address is fetched, and one file can go into an existing folder")
    func address() async throws {
        let fixture = try Fixture()
        let out = try fixture.home.makeFolder("out")
        let run = try await fixture.run("picture", fixture.base + "posters/1.png", "w342", "-o", out)
        #expect(run.status == 0)
        // The pixel is half transparent.
        #expect(try FileManager.default.contentsOfDirectory(atPath: out) == ["1.png"])
    }

    @Test("a picture that cannot be made or is damaged is reported, and the others are made")
    func failures() async throws {
        let folder = try folder("a.jpg")
        try folder.write(bytes(folder.file("a.jpg")).dropLast(200), to: "cut.jpg")
        let run = try await run(
            "picture", folder.file("cut.jpg"), folder.file("none.jpg"), folder.file("a.jpg"), "w30", "-o",
            folder.file("out"), "--json")
        #expect(run.status == 1)
        #expect(run.errorLines.count == 2)
        let records = try JSON.lines(run)
        #expect(records.filter { $0["error"] == nil }.count == 2)
        #expect(records.filter { $0["damage"] != nil }.count == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).sorted()
                == ["a.jpg", "cut.jpg"])
    }

    @Test("a signed address equals the library's")
    func sign() async throws {
        let folder = try TemporaryFolder()
        let line = "k \(String(repeating: "0b", count: 32))\n"
        try folder.write(line, to: "keys")
        let keys = try SigningKeys(Array(line.utf8))
        let expected = PictureAddress(
            try PictureRecipe("342x513.fill"), of: try PictureSource(Self.url), signedBy: keys
        ).path
        let sign = ["sign", Self.url, "342x513.fill", "--sign-key-file", folder.file("keys")]
        #expect(try await Program.run(sign).text == expected + "\n")
        let json = try JSON.object(
            try await Program.run(sign + ["--json", "--base", "https://pictures.example/"]).text)
        #expect(json["url"] as? String == "https://pictures.example" + expected)
    }

    @Test("an address that the service would refuse is not signed, and no error reveals a key")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let key = String(repeating: "0b", count: 32)
        try folder.write(key, to: "keys")
        try folder.write(key.dropLast(2).utf8, to: "short")
        for name in ["keys", "short"] { #expect(unsafe chmod(folder.file(name), 0o600) == 0) }
        for (url, recipe, file) in [
            ("a.jpg", "w342", "keys"), ("file:///a.jpg", "w342", "keys"), (Self.url, "w0", "keys"),
            (Self.url, "30000x20000", "keys"), (Self.url, "w342.e5", "keys"), (Self.url, "w342", "none"),
            ("https://a:b@example.org/", "w342", "keys"), (Self.url, "w342", "short"),
        ] {
            let run = try await Program.run(["sign", url, recipe, "--sign-key-file", folder.file(file)])
            #expect(run.status == 2 && run.output.isEmpty && run.errorLines.count == 1)
            #expect(!run.errorText.contains("0b0b"))
        }
        #expect(try await Program.run(["sign", Self.url, "w342"]).status == 2)
    }

    @Test(
        "the name of the output decides the format where the recipe names none; where they disagree, a line says so",
        arguments: [
            ("w30", "a.png", "png", ""), ("w30", "b", "jpeg", ""), ("w30", "c.jpeg", "jpeg", ""),
            (
                "w30.q70", "d.png", "jpeg",
                "d.png is a JPEG, because w30.q70 says so; leave out .q70 for a PNG"
            ),
            ("w30.png", "e.jpg", "png", "e.jpg is a PNG, because w30.png says so; name it e.png"),
            ("original", "f.png", "jpeg", "f.png is a JPEG, as the original is; name it f.jpg"),
        ])
    func formats(recipe: String, name: String, format: String, warning: String) async throws {
        let folder = try folder("a.jpg")
        let run = try await run("picture", folder.file("a.jpg"), recipe, "-o", folder.file(name))
        #expect(run.status == 0, "\(run.errorText)")
        let expected = warning.isEmpty ? "" : "marquee: \(folder.path)/\(warning)\n"
        #expect(run.errorText == expected)
        let made = try bytes(folder.file(name))
        let detected = ImageFormat(detecting: made.span)
        #expect(detected?.name == format)
    }
}
