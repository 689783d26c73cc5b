import FoundationEssentials
import MovieCatalogue
import Testing

@testable import marquee

@Suite("Text for people", .timeLimit(.minutes(10)))
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

    @Test(
        "the host an entry came from",
        arguments: [
            ("https://Example.org/a.jpg", "example.org"), ("http://u:p@h:8080/x", "h"),
            ("http://[::1]:80/x", "[::1]"), ("https://h?a=b://c/", "h"), ("file:///x", ""), ("none", ""),
        ])
    func hosts(url: String, host: String) { #expect(CacheHost.name(ofURL: url) == host) }

    @Test("every option of every command is in its help, and every command in the overview")
    func help() {
        let overview = Help.overview(commands.map { $0.specification })
        for command in commands {
            let specification = command.specification
            let help = Help.text(for: specification)
            #expect(overview.contains("\n  \(specification.name) "))
            for option in specification.options + CommandSpecification.global {
                #expect(help.contains("--\(option.name)"), "\(specification.name) --\(option.name)")
                #expect(help.contains(option.help))
            }
            #expect(help.contains("Examples\n"))
        }
        for option in CommandSpecification.global { #expect(overview.contains("--\(option.name)")) }
    }
}

@Suite("Columns of the list", .timeLimit(.minutes(10)))
struct ColumnsTests {
    private let rows = [
        FilmRecord<String>(
            movie: Movie(
                id: "id", title: String(repeating: "t", count: 30), year: 1920,
                director: String(repeating: "d", count: 20)),
            poster: nil, isCached: false)
    ]

    @Test("need what they hold where nothing bounds them")
    func unbounded() {
        let widths = ListCommand.columnWidths(rows, in: nil)
        #expect(widths.title == 30)
        #expect(widths.director == .max)
    }

    @Test("fit the terminal", arguments: [0, 1, 10, 16, 17, 18, 20, 40, 60, 66, 67, 80, 200])
    func fit(width: Int) {
        let widths = ListCommand.columnWidths(rows, in: width)
        #expect(widths.title >= 0 && widths.director >= 0)
        #expect(15 + widths.title + 2 + widths.director <= max(width, 17))
        if width >= 67 { #expect(widths == (30, 20)) }
    }
}
