import FilmSources
import Films
import HTTPSemantics
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Pages", .bounded, .ownThread)
struct PageTests {
    static let browser: HeaderFields = [
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
    ]
    static let hostile = [
        "</title><script>canary</script>", "\" onerror=\"canary", "'><img src=x onerror=canary>",
        "a\u{0}\u{1B}[31m\u{7F}b", "👩‍👩‍👧\u{200D}", "\u{202E}gnp.exe", "<!--", "]]>", "&lt;b&gt;", "{{7*7}}",
        "\r\n\r\n",
    ]

    private func client(_ films: Int = 3) throws -> FilmClient {
        let library = try FilmLibrary(inMemoryFor: "pages")
        for number in 0..<films {
            var film = FilmDocument()
            film["title"] = JSONText("Film \(Character(UnicodeScalar(UInt8(97 + number % 26)))) \(number)")
            film["year"] = JSONText(1900 + number % 100)
            film["score"] = JSONText(number % 10)
            _ = try library.insert(film, id: "film-\(number)", poster: nil)
        }
        return try FilmClient(library: library)
    }

    /// All pages.
    private static let targets = [
        "/", "/films", "/films?q=film", "/films?q=zzz", "/films?sort=title&limit=2", "/films/top3",
        "/films/top/10",
        "/films/film-1", "/add", "/films/film-1/edit", "/films/film-1/rate", "/films/film-1/remove",
        "/films/none",
        "/nothing", "/films?limit=x",
    ]

    @Test("tidy finds no fault", .enabled(if: Tidy.isInstalled, "tidy is not installed"), arguments: targets)
    func tidy(target: String) throws {
        #expect(try Tidy.findings(try client().get(target, Self.browser).bytes) == "")
    }

    @Test(
        "tidy finds no fault in a form with errors", .enabled(if: Tidy.isInstalled, "tidy is not installed"))
    func tidyErrors() throws {
        let form = "film[title]=&film[year]=19x&film[director]=%3Cb%3E&film[genres]="
        let answer = try client().send("POST", "/add", form, type: "application/x-www-form-urlencoded")
        #expect(try answer.status == 422 && Tidy.findings(answer.bytes) == "")
    }

    @Test("no title breaks the markup of any page")
    func hostileTitles() throws {
        let client = try client(0)
        for (index, title) in Self.hostile.enumerated() {
            var film = FilmDocument()
            for member in ["title", "originalTitle", "director", "country", "overview"] {
                film[member] = JSONText("x" + title)
            }
            film["genres"] = JSONText(elements: [JSONText(title)])
            _ = try client.library.insert(film, id: "h\(index)", poster: nil)
            _ = try client.library.insert(film, id: "'\"<b>&\(index)", poster: nil)
        }
        var targets = ["/", "/films/top/100"]
        for (index, title) in Self.hostile.enumerated() {
            targets += ["", "/edit", "/remove"].map { "/films/h\(index)\($0)" }
            targets.append("/films?q=\(PercentEncoding.encoded(title))")
            targets.append("/films/\(PercentEncoding.encoded(title.replacing("/", with: "")))")
        }
        for target in targets where !target.contains("%00") {
            let page = try client.get(target, Self.browser)
            #expect(page["content-type"] == "text/html; charset=utf-8", "\(target)")
            for broken in ["<script", "<img src=x", "\" onerror", "<!--", "\u{1B}", "\u{0}", "<b>"] {
                #expect(!page.text.contains(broken), "\(target)")
            }
            if Tidy.isInstalled { #expect(try Tidy.findings(page.bytes) == "", "\(target)") }
        }
    }

    @Test(
        "the pages of the wall link to all films and back, in every order", arguments: FilmQuery.Sort.allCases
    )
    func paging(sort: FilmQuery.Sort) throws {
        let client = try client(23)
        func link(_ relation: String, _ page: String) -> String? {
            page.split(separator: "<a href=\"").first {
                $0.prefix { $0 != ">" }.contains("rel=\"\(relation)\"")
            }.map { "/" + $0.prefix { $0 != "\"" }.replacing("&amp;", with: "&") }
        }
        func films(_ page: String) -> [String] {
            page.split(separator: "<a class=\"film\" href=\"films/").dropFirst().map {
                String($0.prefix { $0 != "\"" })
            }
        }
        var pages = [try client.get("/films?limit=5&sort=\(sort)", Self.browser).text]
        #expect(link("prev", pages[0]) == nil)
        while let next = link("next", pages[pages.count - 1]) {
            pages.append(try client.get(next, Self.browser).text)
        }
        #expect(pages.count == 5 && Set(pages.flatMap(films)).count == 23)
        var page = pages[4]
        for earlier in pages.dropLast().reversed() {
            page = try client.get(try #require(link("prev", page)), Self.browser).text
            #expect(films(page) == films(earlier))
        }
        #expect(link("prev", page) == nil && link("next", page) != nil)
    }
}
