@testable import Films
import FoundationEssentials
import LazyImages
import TestTraits
import Testing

@testable import marquee

@Suite("Text output", .bounded)
struct TextTests {
    @Test(
        "sizes",
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1 KiB"), (42_250, "41.3 KiB"),
            (536_870_912, "512 MiB"), (1_048_575, "1.0 MiB"), (1_073_741_824, "1 GiB"), (Int.max, "8 EiB"),
        ])
    func sizes(count: Int, text: String) { #expect(ByteCount.text(count) == text) }

    @Test(
        "numbers",
        arguments: [
            (8.9, 1, "8.9"), (8.95, 1, "9.0"), (0.04, 1, "0.0"), (-1.25, 1, "-1.3"), (12, 0, "12"),
            (0.056, 2, "0.06"), (1e20, 1, "1e+20"),
        ])
    func numbers(value: Double, decimals: Int, text: String) {
        #expect(value.formatted(decimals: decimals) == text)
    }
}

@Suite("Help", .bounded)
struct HelpTests {
    private let specifications = CommandSpecification.all

    @Test("no line of any page is wider than 80 columns")
    func width() throws {
        let names = specifications.map(\.name) + Help.topics.map(\.name)
        let pages = try names.map { try Help.page($0) } + [Help.overview]
        for line in pages.flatMap({ $0.split(separator: "\n") }) { #expect(line.count <= 80, "\(line)") }
    }

    @Test("marquee help prints the pages, and a mistyped command gets a suggestion")
    func command() async throws {
        #expect(try await Program.run(["help"]).output == Program.run(["--help"]).output)
        for name in ["list", "fetch", "help"] {
            #expect(try await Program.run(["help", name]).output == Program.run([name, "--help"]).output)
        }
        #expect(try await Program.run(["help", "options"]).text.contains("--cache-dir DIR"))
        #expect(try await Program.run(["help", "json", "--json"]).text == JSONHelp.text + "\n")
        let mistyped = try await Program.run(["help", "option"])
        #expect(mistyped.status == 2)
        #expect(mistyped.errorText.contains("there is no help on \"option\"; did you mean \"options\"?"))
    }
}

@Suite("Columns of the list", .bounded)
struct ColumnsTests {
    @Test("fit the terminal", arguments: [0, 1, 10, 16, 17, 18, 20, 40, 60, 67, 68, 80, 200])
    func fit(width: Int) {
        let (title, director) = (String(repeating: "t", count: 30), String(repeating: "d", count: 20))
        let movie = Movie(id: "id", title: title, year: 1920, director: director)
        let row = FilmRecord(movie: movie, base: BaseURL(URL(filePath: "/")), poster: nil, isCached: false)
        let widths = FilmTable.columnWidths([row], in: width)
        #expect(widths.title >= 0 && widths.director >= 0)
        #expect(16 + widths.title + 2 + widths.director <= max(width, 18))
        if width >= 68 { #expect(widths == (30, 20)) }
    }
}
