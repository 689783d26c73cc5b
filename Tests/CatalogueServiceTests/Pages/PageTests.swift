import Films
import HTTPSemantics
import HTTPServer
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Pages", .bounded)
struct PageTests {
    static let browser: HeaderFields = [
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
    ]
    static let hostile = [
        "</title><script>canary</script>", "\" onerror=\"canary", "'><img src=x onerror=canary>",
        "a\u{0}\u{1B}[31m\u{7F}b", "👩‍👩‍👧\u{200D}", "\u{202E}gnp.exe", "<!--", "]]>", "&lt;b&gt;", "{{7*7}}",
        "\r\n\r\n",
    ]

    private func client(_ films: Int = 3, isWritable: Bool = true) throws -> FilmClient {
        let library = try FilmLibrary(inMemoryFor: "pages")
        for number in 0..<films {
            var film = FilmDocument()
            film["title"] = JSONText("Film \(Character(UnicodeScalar(UInt8(97 + number % 26)))) \(number)")
            film["year"] = JSONText(1900 + number % 100)
            film["score"] = JSONText(number % 10)
            _ = try library.insert(film, id: "film-\(number)", poster: nil)
        }
        return try FilmClient(library: library) { $0.isWritable = isWritable }
    }

    /// All pages.
    private static let targets = [
        "/", "/films", "/films?q=film", "/films?q=zzz", "/films?sort=title&limit=2", "/films/top3",
        "/films/top/10",
        "/films/film-1", "/add", "/films/film-1/edit", "/films/film-1/rate", "/films/film-1/remove",
        "/films/none",
        "/nothing", "/films?limit=x",
    ]

    @Test(
        "browsers get pages, and programs get JSON as before",
        arguments: ["/films", "/", "/films/top3", "/films/film-1"])
    func negotiation(target: String) throws {
        let client = try client()
        let page = try client.get(target, Self.browser)
        #expect(
            page.status == 200 && page["content-type"] == "text/html; charset=utf-8"
                && page["vary"] == "Accept, Accept-Encoding")
        for fields in [HeaderFields(), ["Accept": "*/*"], ["Accept": "application/json"]] as [HeaderFields] {
            let answer = try client.get(target, fields)
            #expect(answer["content-type"] == "application/json")
            #expect(answer["etag"] != page["etag"] && answer["content-security-policy"] == nil)
        }
        let ended = try client.get(
            target == "/" ? "/index.html" : target + ".html", ["Accept": "application/json"])
        #expect(ended.bytes.starts(with: "<!DOCTYPE html>".utf8))
    }

    @Test("a page with a matching entity tag is 304, until something is written")
    func notModified() throws {
        let client = try client()
        for target in ["/films", "/films/top3", "/films/film-1"] {
            let tag = try #require(try client.get(target, Self.browser)["etag"])
            var fields = Self.browser
            fields["If-None-Match"] = tag
            #expect(try client.get(target, fields).status == 304)
            _ = try client.library.rate("film-1", rater: "a", value: 9)
            #expect(try client.get(target, fields).status == 200)
        }
    }

    @Test("pages run no scripts, load nothing from elsewhere and cannot be framed", arguments: targets)
    func protection(target: String) throws {
        let page = try client().get(target, Self.browser)
        let policy = try #require(page["content-security-policy"])
        for part in ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"]
        {
            #expect(policy.contains(part))
        }
        #expect(!policy.contains("unsafe") && page["referrer-policy"] == "same-origin")
        #expect(
            !page.text.contains("<script") && !page.text.contains("style=") && !page.text.contains("http"))
    }

    @Test("tidy finds no fault", .enabled(if: Tidy.isInstalled, "tidy is not installed"), arguments: targets)
    func tidy(target: String) throws {
        #expect(try Tidy.findings(try client().get(target, Self.browser).bytes) == "")
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
            guard let start = page.firstRange(of: "rel=\"\(relation)\" href=\"") else { return nil }
            return "/" + page[start.upperBound...].prefix { $0 != "\"" }.replacing("&amp;", with: "&")
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

    @Test("a letter links to the first title that starts with it")
    func letters() throws {
        let client = try client(26)
        let place = FilmQuery.start(ofTitles: "film q")
        let page = try client.get("/films?sort=title&limit=2&after=\(place)", Self.browser)
        #expect(page.text.contains("films/film-16\"") && page.text.contains("rel=\"prev\""))
        #expect(!page.text.contains("films/film-15\""))
    }

    @Test("the stylesheet is cached for good under its version, and never under another")
    func stylesheet() throws {
        let client = try client()
        let page = try client.get("/films/film-1", Self.browser).text
        #expect(page.contains("href=\"../films/style/\(Stylesheet.name)\""))
        let style = try client.get("/films/style/\(Stylesheet.name)", ["Accept": "text/css,*/*;q=0.1"])
        #expect(
            style["content-type"] == "text/css; charset=utf-8"
                && style["cache-control"]?.contains("immutable") == true)
        #expect(try client.get("/films/style/old.css")["cache-control"] == "no-cache")
        #expect(page.contains("href=\"../films/style/icon.svg\""))
        let icon = try client.get("/films/style/icon.svg", ["Accept": "image/svg+xml,*/*;q=0.8"])
        #expect(icon["content-type"] == "image/svg+xml" && icon.text.hasPrefix("<svg"))
        #expect(try client.get("/films/style/icon.png").status == 404)
    }

    @Test("a refusal is a page with its status, and says what to do")
    func problems() throws {
        let client = try client()
        try client.library.setName("Silent & Season")
        let page = try client.get("/films/none", Self.browser)
        #expect(page.status == 404 && page.text.contains("there is no film &quot;none&quot;"))
        #expect(page.text.contains("href=\"../\"") && page["cache-control"] == "no-store")
        #expect(page.text.contains("Not Found · Silent &amp; Season</title>"))
        #expect(page.text.contains("Add a film"))
        // For an unknown path, the links depend on the path alone.
        #expect(try client.get("/a/b/c", Self.browser).text.contains("href=\"../../films\""))
    }

    @Test("a folder's root is the wall for browsers, and its file for programs")
    func folder() throws {
        let running = try RunningService([
            "movies.json": #"{"name":"N","movies":[{"id":"a","title":"A","poster":"posters/a.jpg"}]}"#,
            "posters/a.jpg": "x",
        ])
        func get(_ target: String, _ accept: String) throws -> RawClient.Answer {
            try running.client().get(target, "Accept: \(accept)")
        }
        let page = try get("/", "text/html")
        #expect(page.text.hasPrefix("<!DOCTYPE html>") && page.text.contains("films/a/poster"))
        #expect(try get("/index.html", "*/*").text == page.text)
        #expect(try get("/", "*/*").text.hasPrefix("{\"name\""))
        #expect(try get("/none", "text/html").text.hasPrefix("<!DOCTYPE html>"))
        #expect(try get("/none", "*/*").text == "404 Not Found\n")
    }
}
