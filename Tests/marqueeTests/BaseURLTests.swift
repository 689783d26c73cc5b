import FoundationEssentials
import ImageCodecs
import LazyImages
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("Base addresses", .bounded)
struct BaseURLTests {
    private func url(_ text: String) throws -> URL { try URL(typed: text) }

    @Test("after a redirect, addresses are relative to the final URL")
    func redirectedBase() throws {
        let base = try BaseURL(
            origin: url("https://a.example/list"), redirectedTo: url("https://b.example/v2/movies.json"))
        #expect(base.url.absoluteString == "https://b.example/v2/movies.json")
    }

    @Test("a redirect to another origin gets no header fields")
    func redirectedFields() throws {
        let base = try BaseURL(
            origin: url("https://a.example/list"), redirectedTo: url("https://b.example/v2/movies.json"))
        #expect(!base.sharesFields(with: try url("https://b.example/v2/1.jpg")))
        #expect(base.sharesFields(with: try url("https://a.example/1.jpg")))
        #expect(!base.sharesFields(with: try url("http://a.example/1.jpg")))
        #expect(!base.sharesFields(with: try url("https://a.example:444/1.jpg")))
    }

    @Test("the user's header fields are sent to the addresses in a local list")
    func localFields() throws {
        #expect(BaseURL(URL(filePath: "/movies.json")).sharesFields(with: try url("https://a.example/1.jpg")))
    }

    @Test("a list from the network cannot name a file of this machine; a local one can")
    func files() throws {
        let network = BaseURL(try url("https://a.example/list"))
        for address in ["file:///etc/passwd", "FILE:///etc/passwd", " file:/etc/passwd"] {
            let error = #expect(throws: ImageLoadingError.self) { try network.resolve(address) }
            #expect(error.map { "\($0)" }?.contains("a list from the network cannot name a file") == true)
            #expect(try BaseURL(URL(filePath: "/movies.json")).resolve(address).path() == "/etc/passwd")
        }
        #expect(try network.resolve("/etc/passwd").absoluteString == "https://a.example/etc/passwd")
        #expect(try network.resolve("data:,x").absoluteString == "data:,x")
    }

    @Test("credentials in an address are sent only to its origin")
    func credentials() throws {
        let origin = try url("https://u:p%40@a.example/list")
        let same = BaseURL(origin: origin, redirectedTo: try url("https://a.example/v2/list"))
        #expect(same.url.absoluteString == "https://u:p%40@a.example/v2/list")
        let other = BaseURL(origin: origin, redirectedTo: try url("https://b.example/list"))
        #expect(other.url.absoluteString == "https://b.example/list")
    }
}

@Suite("Names of written files", .bounded)
struct OutputFolderTests {
    private func name(_ address: String, _ format: ImageFormat?, name: String? = nil) throws -> String {
        let (stem, ending) = OutputFolder.name(of: try URL(typed: address), name: name)
        return OutputFolder.fileName(stem + ending, format: format)
    }

    @Test("a name is the last part of the address, with the extension of its format")
    func plain() throws {
        #expect(try name("https://x/a/poster.jpg", .jpeg) == "poster.jpg")
        #expect(try name("https://x/a/poster.jpeg", .jpeg) == "poster.jpeg")
        #expect(try name("https://x/a/poster.JPG", .jpeg) == "poster.JPG")
        #expect(try name("https://x/a/poster.jpg", .png) == "poster.jpg.png")
        #expect(try name("https://x/a/poster.php", .png) == "poster.php.png")
        #expect(try name("https://x/a/poster", .png) == "poster.png")
        #expect(try name("https://x/a/data.bin", nil) == "data.bin")
        #expect(try name("https://x/El Camión.jpg", .jpeg) == "El Camión.jpg")
        #expect(try name("https://x/1.jpg", .jpeg, name: "nosferatu") == "nosferatu.jpg")
        #expect(try name("https://x/1.jpg", .png, name: "dr. no") == "dr. no.png")
    }

    @Test("names are unique in order of arrival, also with their extensions")
    func claims() throws {
        let folder = try TemporaryFolder()
        let output = try OutputFolder(folder.path, existing: .number)
        let expected = [
            ("https://x/a.jpg", "a.jpg"), ("https://y/a.jpg", "a-2.jpg"), ("https://x/a.png", "a.png"),
            ("https://z/a.jpg", "a-3.jpg"), ("https://x/a", "a-4"), ("https://x/a.jpg.png", "a.jpg-2.png"),
            ("https://y/a.jpg", "a-2.jpg"), ("https://x/b", "b"), ("https://x/b.png", "b-2.png"),
        ]
        for (address, name) in expected {
            #expect(output.claim(try ImageRequest(URL(typed: address)), name: nil) == name, "\(address)")
        }
    }

    @Test("without a name in the address the file is called image")
    func nameless() throws {
        #expect(try name("https://x/", .png) == "image.png")
        #expect(try name("data:image/png;base64,AAAA", .png) == "image.png")
        #expect(try name("https://x/...", .gif) == "image.gif")
    }

    @Test(
        "no address leads out of the folder or to a hidden file",
        arguments: [
            "https://x/..%2F..%2Fetc%2Fpasswd", "https://x/%2e%2e", "https://x/.hidden", "https://x/a%00b",
            "https://x/%1B%5B31m.jpg", "https://x/%E2%80%AEgpj.exe", "https://x/%E2%80%8B", "https://x/%0A",
        ])
    func hostile(address: String) throws {
        let name = try name(address, .png)
        #expect(!name.hasPrefix("."))
        for scalar in name.unicodeScalars {
            #expect(scalar != "/" && scalar.value >= 0x20 && scalar.properties.generalCategory != .format)
        }
    }

    @Test("a long name is cut to the limit of file systems")
    func long() throws {
        let letters = String(repeating: "🎞", count: 300)
        #expect(try name("https://x/\(letters).jpg", .jpeg).utf8.count <= 255)
        #expect(try name("https://x/a.\(letters)", nil).utf8.count <= 255)
    }
}
