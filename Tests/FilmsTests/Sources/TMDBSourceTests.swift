import FoundationEssentials
import HTTPSemantics
import TestTraits
import Testing

@testable import FilmSources
@testable import Films

@Suite("Lists of TMDB", .bounded)
struct TMDBSourceTests {
    private static let configuration =
        #"{"images":{"base_url":"http://img.example/t/p/","secure_base_url":"https://img.example/t/p/","poster_sizes":["w92","original"]},"change_keys":[]}"#
    private static let genres = #"{"genres":[{"id":27,"name":"Horror"},{"id":14,"name":"Fantasy"}]}"#

    private static func film(_ id: Int) -> String {
        #"{"adult":false,"backdrop_path":null,"genre_ids":[27,99],"id":\#(id),"original_language":"de","original_title":"Der Film \#(id)","overview":"","popularity":1.5,"poster_path":null,"release_date":"","title":"Film \#(id)","video":false,"vote_average":0,"vote_count":0}"#
    }

    private static let page = #"""
        {"page":1,"results":[
          {"adult":false,"backdrop_path":"/b.jpg","genre_ids":[27,14,99],"id":653,"original_language":"de",
           "original_title":"Nosferatu, eine Symphonie des Grauens","overview":"A clerk travels.","popularity":20.1,
           "poster_path":"/zv7J85D8CC9qYagAEhPM63CIG6j.jpg","release_date":"1922-02-16","title":"Nosferatu",
           "video":false,"vote_average":7.689,"vote_count":1900},
          {"id":7,"title":"Unknown","original_title":"Unknown","poster_path":null,"release_date":"","genre_ids":[],
           "vote_average":0,"vote_count":0,"overview":""},
          {"id":8,"title":null}, {"title":"No id"}, "film"
        ],"total_pages":40000,"total_results":800000}
        """#

    /// The answers of a server with these films on a page.
    private func answers(_ films: @escaping @Sendable (_ page: Int) -> [Int], pages: Int) -> ScriptedAnswers {
        ScriptedAnswers { url in
            switch url.path() {
            case "/3/configuration": return Self.configuration
            case "/3/genre/movie/list": return Self.genres
            default:
                let page = Int(url.parameter("page") ?? "") ?? 0
                let results = films(page).map(Self.film).joined(separator: ",")
                return #"{"page":\#(page),"results":[\#(results)],"total_pages":\#(pages),"total_results":9}"#
            }
        }
    }

    private func source(_ name: String = "tmdb:popular") throws -> TMDBSource {
        try #require(try TMDBSource(name: name))
    }

    @Test("a film has what the list knows of it, genres with their names, and a poster at a size")
    func page() throws {
        let words = TMDBSource.Words(
            pictures: "https://img.example/t/p/", genres: [27: "Horror", 14: "Fantasy"])
        let server = try source().address
        let (page, entries, pages) = try TMDBSource.page(
            try JSONNode(parsing: Array(Self.page.utf8)), from: 0, words, of: server)
        #expect((entries, pages) == (5, 40000))
        let movie = try #require(page.films.first?.movie)
        #expect(movie.id == "653" && movie.title == "Nosferatu" && movie.year == 1922)
        #expect(movie.originalTitle == "Nosferatu, eine Symphonie des Grauens")
        #expect(movie.genres == ["Horror", "Fantasy"] && movie.overview == "A clerk travels.")
        #expect(movie.rating == 7.7 && movie.votes == 1900)
        #expect(movie.poster == "https://img.example/t/p/w780/zv7J85D8CC9qYagAEhPM63CIG6j.jpg")
        #expect(page.films[0].ids == ["tmdb": "653"])
        let unknown = page.films[1].movie
        #expect(
            unknown.poster == nil && unknown.year == nil && unknown.votes == 0 && unknown.originalTitle == nil
        )
        #expect(page.films.count == 2 && page.problems.count == 3)
    }

    @Test("the names of lists, and what is wrong with others")
    func names() throws {
        #expect(try TMDBSource(name: "films.json") == nil)
        #expect(try source().page(1).absoluteString == "https://api.themoviedb.org/3/movie/popular?page=1")
        #expect(try source("tmdb:top_rated").page(2).path() == "/3/movie/top_rated")
        let search = try source("tmdb:search?q=El+Camin%C3%B3&language=de-DE").page(1)
        #expect(search.path() == "/3/search/movie" && search.parameter("query") == "El Caminó")
        #expect(search.parameter("language") == "de-DE")
        let other = try source("tmdb+http://127.0.0.1:8080/3:discover?with_genres=27")
        #expect(
            other.page(1).absoluteString == "http://127.0.0.1:8080/3/discover/movie?with_genres=27&page=1")
        for name in [
            "tmdb:", "tmdb:best", "tmdb:search", "tmdb:search?q=", "tmdb:popular?api_key=1", "tmdb+x:popular",
        ] {
            #expect(throws: FilmFault.self, "\(name)") { try TMDBSource(name: name) }
        }
    }

    @Test("a search at the server keeps the server and the language")
    func searching() async throws {
        let found = try source("tmdb:popular?language=de-DE&region=DE").page(2, searching: "El Caminó & more")
        #expect(found.path() == "/3/search/movie" && found.parameter("query") == "El Caminó & more")
        #expect(found.parameter("language") == "de-DE" && found.parameter("region") == nil)
        #expect(found.parameter("page") == "2")
        let own = try source("tmdb+http://127.0.0.1:8080/3:popular").page(1, searching: "a")
        #expect(own.absoluteString == "http://127.0.0.1:8080/3/search/movie?query=a&page=1")
        let answers = answers({ [$0] }, pages: 1)
        #expect(try await source().pages(searching: "a", answers).count == 1)
        #expect(answers.requests.last?.path() == "/3/search/movie")
        #expect(try await source().pages(searching: " ", answers).isEmpty)
    }

    @Test("later pages are read without those before them")
    func laterPages() async throws {
        let answers = answers({ [$0] }, pages: 4)
        let pages = try await source().pages(after: 2, answers)
        #expect(
            pages.map { $0.films.map(\.movie.id) } == [["3"], ["4"]] && pages.map(\.isLast) == [false, true])
        #expect(try await source().pages(after: 500, answers).isEmpty)
    }

    @Test("a token goes into a field; a key is a parameter, which is added last")
    func token() throws {
        let page = try source().page(1)
        var (url, fields) = (page, HeaderFields())
        try source().authorize(&url, &fields, with: "eyJhbGciOi.J9")
        #expect(url == page && fields["authorization"] == "Bearer eyJhbGciOi.J9")
        (url, fields) = (page, HeaderFields())
        try source().authorize(&url, &fields, with: "0123456789abcdef0123456789ABCDEF")
        #expect(fields.isEmpty)
        #expect(
            url.parameter("api_key") == "0123456789abcdef0123456789ABCDEF" && url.parameter("page") == "1")
    }

    @Test("pages are read until the last that the server gives out")
    func paging() async throws {
        let answers = answers({ Array($0 * 20..<$0 * 20 + 20) }, pages: 900)
        let pages = try await source().pages(answers)
        #expect(pages.count == 500 && pages.last?.isLast == true)
        #expect(pages[0].films[0].movie.genres == ["Horror"])
        #expect(pages.dropLast().allSatisfy { !$0.isLast })
    }

    @Test("a film's own page adds director, length and countries")
    func details() async throws {
        let answers = ScriptedAnswers { _ in
            #"""
            {"id":653,"title":"Nosferatu","runtime":95,"genres":[{"id":27,"name":"Horror"}],"imdb_id":"tt0013442",
             "production_countries":[{"iso_3166_1":"DE","name":"Germany"}],
             "credits":{"cast":[{"name":"Max Schreck"}],"crew":[{"job":"Producer","name":"Albin Grau"},
               {"job":"Director","name":"F. W. Murnau"}]}}
            """#
        }
        let film = Movie(id: "653", title: "Nosferatu the list's title", overview: "Kept.")
        let whole = try #require(try await source().complete(film, answers))
        #expect(whole.title == "Nosferatu the list's title" && whole.overview == "Kept.")
        #expect(whole.director == "F. W. Murnau" && whole.minutes == 95 && whole.country == "Germany")
        #expect(whole.genres == ["Horror"])
        #expect(answers.requests[0].parameter("append_to_response") == "credits")
    }

    @Test("a poster is requested at the server's smallest size that is enough")
    func posters() throws {
        let poster = try #require(URL(string: "https://image.tmdb.org/t/p/w780/zv7J.jpg"))
        #expect(
            FilmServers.poster(poster, atLeast: 100).absoluteString
                == "https://image.tmdb.org/t/p/w154/zv7J.jpg")
        let original = try #require(URL(string: "https://image.tmdb.org/t/p/original/zv7J.jpg"))
        #expect(FilmServers.poster(original, atLeast: 500).path() == "/t/p/w500/zv7J.jpg")
        #expect(FilmServers.isImmutable(poster))
    }
}
