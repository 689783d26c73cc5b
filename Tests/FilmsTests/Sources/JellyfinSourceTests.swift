import FoundationEssentials
import HTTPSemantics
import LazyImages
import TestTraits
import Testing

@testable import FilmSources
@testable import Films

@Suite("Films of a Jellyfin server", .bounded)
struct JellyfinSourceTests {
    /// A page as version 10.10 writes it, with members that nobody reads.
    private static let page = #"""
        {"Items": [
          {"Name": "Nosferatu", "OriginalTitle": "Nosferatu, eine Symphonie des Grauens", "ServerId": "4d1c",
           "Id": "a1b2c3d4e5f60718293a4b5c6d7e8f90", "HasSubtitles": true, "Container": "mkv",
           "PremiereDate": "1922-02-16T00:00:00.0000000Z", "DateCreated": "2024-05-01T18:03:11.1234567Z",
           "CriticRating": 97, "OfficialRating": "PG", "ChannelId": null, "Overview": "A clerk<br>travels &amp; meets a count.",
           "Taglines": [], "Genres": ["Horror", "Fantasy"], "CommunityRating": 7.689, "RunTimeTicks": 56434560000,
           "ProductionYear": 1922, "ProviderIds": {"Tmdb": "653", "Imdb": "tt0013442", "TmdbCollection": ""},
           "IsFolder": false, "Type": "Movie", "ProductionLocations": ["Germany"],
           "People": [{"Name": "Max Schreck", "Id": "1", "Role": "Count Orlok", "Type": "Actor"},
                      {"Name": "F. W. Murnau", "Id": "2", "Role": "", "Type": "Director", "ImageBlurHashes": {}}],
           "UserData": {"PlaybackPositionTicks": 0, "PlayCount": 0, "IsFavorite": true, "Played": false, "Key": "653"},
           "VideoType": "VideoFile", "ImageTags": {"Primary": "9d0e1f", "Logo": "77"}, "BackdropImageTags": ["1"],
           "ImageBlurHashes": {"Primary": {"9d0e1f": "dCGR"}}, "LocationType": "FileSystem", "MediaType": "Video"},
          {"Name": "Home film", "Id": "b2", "RunTimeTicks": null, "CommunityRating": 0, "ProductionYear": 0,
           "Genres": [], "People": [], "ProviderIds": {}, "ImageTags": {}, "Type": "Movie"},
          {"Name": "", "Id": "b3"},
          {"Id": "b4"}, 7
        ], "TotalRecordCount": 5, "StartIndex": 0}
        """#

    private func source(_ name: String = "jellyfin+https://nas:8920") throws -> JellyfinSource {
        try #require(try JellyfinSource(name: name))
    }

    @Test("a film has what the server knows of it, and a bad one is left out with its reason")
    func page() throws {
        let server = try #require(URL(string: "https://nas:8920"))
        let (page, entries, total) = try JellyfinSource.page(
            try JSONNode(parsing: Array(Self.page.utf8)), from: 0, of: server)
        #expect((entries, total) == (5, 5))
        let movie = try #require(page.films.first?.movie)
        #expect(movie.id == "a1b2c3d4e5f60718293a4b5c6d7e8f90" && movie.title == "Nosferatu")
        #expect(movie.originalTitle == "Nosferatu, eine Symphonie des Grauens")
        #expect(movie.year == 1922 && movie.minutes == 94 && movie.score == 7.7)
        #expect(movie.director == "F. W. Murnau" && movie.country == "Germany")
        #expect(movie.genres == ["Horror", "Fantasy"])
        #expect(movie.overview == "A clerk travels & meets a count.")
        #expect(
            movie.poster
                == "https://nas:8920/Items/a1b2c3d4e5f60718293a4b5c6d7e8f90/Images/Primary?tag=9d0e1f&maxWidth=780"
                + "&quality=90&format=Webp")
        #expect(page.films[0].ids == ["tmdb": "653", "imdb": "tt0013442"])
        #expect(page.films[0].marks.isFavourite && !page.films[0].marks.isSeen)
        #expect(page.films[0].marks.isKnown(.seen) && !page.films[1].marks.isKnown(.seen))
        #expect(page.films[1].movie.title == "Home film")
        #expect(page.films[1].movie.poster == nil && page.films[1].movie.year == nil)
        #expect(page.films.count == 2 && page.problems.count == 3)
    }

    @Test("a series has the number of its episodes, and gets them from its own page with what is seen")
    func series() async throws {
        let answers = ScriptedAnswers { url in
            url.path() == "/Items"
                ? #"""
                {"Items":[{"Id":"s1","Name":"Fantômas","Type":"Series","RecursiveItemCount":3,"ProductionYear":1913,
                  "ImageTags":{"Primary":"77"}},{"Id":"f1","Name":"Faust","Type":"Movie"}],"TotalRecordCount":2}
                """#
                : #"""
                {"Items":[
                  {"Id":"e0","Name":"Making of","ParentIndexNumber":0,"IndexNumber":1},
                  {"Id":"e1","Name":"One","ParentIndexNumber":1,"IndexNumber":1,"UserData":{"Played":true}},
                  {"Id":"e2","Name":"Two","ParentIndexNumber":1,"IndexNumber":2,"UserData":{"Played":false}},
                  {"Id":"e3","Name":"Lost","ParentIndexNumber":1,"IndexNumber":3,"LocationType":"Virtual"},
                  {"Name":"No id"}]}
                """#
        }
        let source = try source("jellyfin+https://nas:8920?userId=8f2c")
        let films = try await source.pages(answers)[0].films.map(\.movie)
        #expect(answers.requests[0].parameter("IncludeItemTypes") == "Movie,Series")
        #expect(films.map(\.isSeries) == [true, false] && films[0].unreadEpisodes == 3)
        #expect(films[0].media == nil && films[0].poster != nil && films[1].media != nil)
        #expect(try await source.complete(films[1], answers) == nil && answers.requests.count == 1)
        let whole = try #require(try await source.complete(films[0], answers))
        #expect(answers.requests[1].path() == "/Shows/s1/Episodes")
        #expect(answers.requests[1].parameter("userId") == "8f2c")
        #expect(
            whole.isSeries && whole.unreadEpisodes == nil
                && whole.parts.map(\.title) == ["One", "Two", "Making of"])
        #expect(
            whole.parts.map(\.isSeen) == [true, false, false] && whole.parts.map(\.id) == ["e1", "e2", "e0"])
        #expect(whole.media == "https://nas:8920/Videos/e1/stream?static=true")
    }

    @Test("the name of a server is its address, with a path and a user, and never a password")
    func names() throws {
        #expect(try JellyfinSource(name: "https://nas:8920") == nil)
        #expect(try source("jellyfin+http://NAS:8096/").name == "jellyfin+http://NAS:8096")
        let path = try source("jellyfin+https://example.org/media/web/?userId=8f2c")
        #expect(path.address.absoluteString == "https://example.org/media")
        #expect(path.page(from: 0).parameter("userId") == "8f2c")
        #expect(
            try source("jellyfin+https://nas?library=Films&userId=8f2c").account
                == "jellyfin+https://nas?userId=8f2c")
        for name in [
            "jellyfin+", "jellyfin:https://nas", "jellyfin+https://nas?library=Films&limit=1",
            "jellyfin+ftp://nas", "jellyfin+https://", "jellyfin+https://anna:secret@nas",
            "jellyfin+https://nas?api_key=1", "jellyfin+nas:8920", "jellyfin:nas", "jellyfin://nas:8096",
        ] {
            #expect(throws: FilmFault.self, "\(name)") { try JellyfinSource(name: name) }
        }
        let error = #expect(throws: FilmFault.self) {
            try JellyfinSource(name: "jellyfin+https://anna:secret@nas")
        }
        #expect(error.map { "\($0)".contains("secret") } == false)
    }

    @Test("pages are read until the last, and films that shifted between them are there once")
    func paging() async throws {
        @Sendable func item(_ number: Int) -> String { #"{"Id":"f\#(number)","Name":"Film \#(number)"}"# }
        let answers = ScriptedAnswers { url in
            let start = Int(url.parameter("StartIndex") ?? "") ?? 0
            // A film was added meanwhile: each later page begins one film earlier.
            let first = start == 0 ? 0 : start - 1
            let items = (first..<min(first + 200, 450)).map(item).joined(separator: ",")
            return #"{"Items":[\#(items)],"TotalRecordCount":450,"StartIndex":\#(start)}"#
        }
        let pages = try await source().pages(answers)
        #expect(pages.count == 3 && pages.map(\.isLast) == [false, false, true])
        #expect(answers.requests.map { $0.parameter("StartIndex") } == ["0", "200", "400"])
        var films = try OpenCatalogue(pages[0])
        for page in pages.dropFirst() { try films.append(page) }
        #expect(films.catalogue.movies.count == 450 && films.isWhole)
        #expect(pages[0].confirmed == 1_000)
    }

    @Test("a server that ignores StartIndex, or does not say how many films there are, ends too")
    func oddServers() async throws {
        let same = ScriptedAnswers { _ in #"{"Items":[{"Id":"a","Name":"A"}],"TotalRecordCount":900}"# }
        let pages = try await source().pages(same)
        #expect(pages.count == 2 && pages[1].isLast)
        #expect(pages[1].problems == [.incomplete(films: 1, total: 900)])
        // One that has not counted says 0, and is read to its end.
        let full = (0..<200).map { #"{"Id":"f\#($0)","Name":"F"}"# }.joined(separator: ",")
        let uncounted = ScriptedAnswers { url in
            url.parameter("StartIndex") == "0"
                ? #"{"Items":[\#(full)],"TotalRecordCount":0}"#
                : #"{"Items":[{"Id":"last","Name":"L"}],"TotalRecordCount":0}"#
        }
        #expect(try await source().pages(uncounted).map(\.films.count) == [200, 1, 1])
        // One that repeats its page is short of films, even where it has sent as many entries as it says.
        let repeating = ScriptedAnswers { _ in #"{"Items":[\#(full)],"TotalRecordCount":250}"# }
        #expect(try await source().pages(repeating).last?.problems == [.incomplete(films: 200, total: 250)])
        // One that says nothing is asked for more films, which are the same.
        let silent = ScriptedAnswers { _ in #"[{"Id":"a","Name":"A"}]"# }
        #expect(try await source().pages(silent).map(\.isLast) == [false, true])
        let empty = ScriptedAnswers { _ in #"{"Items":[],"TotalRecordCount":0}"# }
        #expect(try await source().pages(empty).map(\.films.count) == [0])
        for text in ["<html>", "", "{\"Items\":[{\"Id\":\"a\"", "{\"Items\":7}", "\u{1}"] {
            let answers = ScriptedAnswers { _ in text }
            await #expect(throws: CatalogueError.self, "\(text)") { try await source().pages(answers) }
        }
    }

    @Test(
        "a proxy that sends fewer films than asked for is read to its end, whatever total it says",
        arguments: [0, 7, 120, nil])
    func cappedPages(total: Int?) async throws {
        let answers = ScriptedAnswers { url in
            let start = Int(url.parameter("StartIndex") ?? "") ?? 0
            let items = (start..<max(start, min(start + 50, 120))).map { #"{"Id":"f\#($0)","Name":"F"}"# }
            let count = total.map { #","TotalRecordCount":\#($0)"# } ?? ""
            return #"{"Items":[\#(items.joined(separator: ","))]\#(count)}"#
        }
        let pages = try await source().pages(answers)
        #expect(pages.flatMap(\.films).count == 120 && pages.flatMap(\.problems).isEmpty)
        // Only a total that is right spares the request for an empty page.
        #expect(pages.map(\.films.count) == [50, 50, 20] + (total == 120 ? [] : [0]))
        #expect(pages.map(\.isLast) == pages.indices.map { $0 == pages.count - 1 })
    }

    @Test("the films of one library are asked for by the id that its name has, in any case")
    func library() async throws {
        let views =
            #"{"Items":[{"Name":"Films","Id":"lib1"},{"Name":"Kinder Ü","Id":"lib2"}],"TotalRecordCount":2}"#
        let empty = #"{"Items":[],"TotalRecordCount":0}"#
        let answers = ScriptedAnswers { $0.path() == "/UserViews" ? views : empty }
        _ = try await source("jellyfin+https://nas?library=fILMS&userId=8f2c").pages(answers)
        #expect(answers.requests.map { $0.path() } == ["/UserViews", "/Items"])
        #expect(answers.requests.map { $0.parameter("userId") } == ["8f2c", "8f2c"])
        #expect(answers.requests.map { $0.parameter("ParentId") } == [nil, "lib1"])
        let second = ScriptedAnswers { $0.path() == "/UserViews" ? views : empty }
        _ = try await source("jellyfin+https://nas?Library=kinder%20%C3%BC").pages(second)
        #expect(second.requests.map { $0.parameter("ParentId") } == [nil, "lib2"])
        let error = await #expect(throws: FilmFault.self) {
            try await source("jellyfin+https://nas?library=Music").pages(answers)
        }
        #expect(
            error
                == FilmFault(
                    "there is no library \"Music\"; there are Films, Kinder Ü", code: "no-such-library"))
    }

    @Test("an API key has no views, and the libraries of the server are asked for", arguments: [400, 404])
    func libraryByKey(status: Int) async throws {
        @Sendable func answer(_ url: URL) throws -> String {
            switch url.path() {
            case "/UserViews": throw ImageLoadingError.httpStatus(url: url.absoluteString, status: status)
            case "/Library/VirtualFolders":
                #"[{"Name":"Music","ItemId":"lib3"},{"Name":"Films","ItemId":"lib1"}]"#
            default: #"{"Items":[],"TotalRecordCount":0}"#
            }
        }
        let answers = ScriptedAnswers(answer)
        _ = try await source("jellyfin+https://nas?library=films").pages(answers)
        #expect(answers.requests.map { $0.path() } == ["/UserViews", "/Library/VirtualFolders", "/Items"])
        #expect(answers.requests.last?.parameter("ParentId") == "lib1")
        // A named user has views of its own, and no others.
        let named = ScriptedAnswers(answer)
        await #expect(throws: (any Error).self) {
            try await source("jellyfin+https://nas?library=films&userId=8f2c").pages(named)
        }
        #expect(named.requests.count == 1)
    }

    @Test("a server that is away is not asked for its libraries twice")
    func libraryAway() async throws {
        let answers = ScriptedAnswers { url in
            throw ImageLoadingError.connectionFailed(url: url.absoluteString, reason: "refused")
        }
        await #expect(throws: ImageLoadingError.self) {
            try await source("jellyfin+https://nas?library=films").pages(answers)
        }
        #expect(answers.requests.count == 1)
    }

    @Test("a token without a user is told once for each reading, and not where there are marks")
    func noUser() async throws {
        @Sendable func films(_ range: Range<Int>, _ data: String = "") -> String {
            let items = range.map { #"{"Id":"f\#($0)","Name":"F"\#($0 == 1 ? data : "")}"# }
            return #"{"Items":[\#(items.joined(separator: ","))],"TotalRecordCount":400}"#
        }
        let data = #","UserData":{"Played":false}"#
        let notice =
            "jellyfin+https://nas:8920: the token names no user, so there are no marks; add ?userId=ID"
        let key = ScriptedAnswers { films($0.parameter("StartIndex") == "0" ? 0..<200 : 200..<400) }
        _ = try await source().pages(key)
        #expect(key.notices == [notice])
        let user = ScriptedAnswers { films($0.parameter("StartIndex") == "0" ? 0..<200 : 200..<400, data) }
        _ = try await source().pages(user)
        let named = ScriptedAnswers { _ in films(0..<3) }
        _ = try await source("jellyfin+https://nas?userId=8f2c").pages(named)
        let empty = ScriptedAnswers { _ in films(0..<0) }
        _ = try await source().pages(empty)
        #expect(user.notices.isEmpty && named.notices.isEmpty && empty.notices.isEmpty)
    }

    @Test("a string that is wrong in itself costs its film and no other")
    func wrongString() async throws {
        let answers = ScriptedAnswers { _ in
            #"{"Items":[{"Id":"a","Name":"A\ud800"},{"Id":"b","Name":"B","Overview":"\x"}],"TotalRecordCount":2}"#
        }
        let page = try #require(try await source().pages(answers).first)
        #expect(page.films.map(\.movie.id) == ["b"] && page.films[0].movie.overview == nil)
        #expect(page.problems.count == 1)
    }

    @Test("a film that is twice in a page is there once")
    func twice() async throws {
        let answers = ScriptedAnswers { _ in
            #"{"Items":[{"Id":"a","Name":"A"},{"Id":"a","Name":"A"},{"Id":"b","Name":"B"}],"TotalRecordCount":3}"#
        }
        #expect(try await source().pages(answers).map { $0.films.map(\.movie.id) } == [["a", "b"]])
    }

    @Test("seen and favourite are set and removed at the server, other marks are not")
    func marks() throws {
        let user = try source("jellyfin+https://nas/media?userId=8f2c")
        let seen = try #require(user.request(toSet: .seen, true, of: "a1"))
        #expect(seen.method == .post)
        #expect(seen.url.absoluteString == "https://nas/media/UserPlayedItems/a1?userId=8f2c")
        let favourite = try #require(try source().request(toSet: .favourite, false, of: "a1"))
        #expect(favourite.method == .delete)
        #expect(favourite.url.absoluteString == "https://nas:8920/UserFavoriteItems/a1")
        #expect(user.request(toSet: .rating, true, of: "a1") == nil)
        #expect(user.request(toSet: .toWatch, true, of: "a1") == nil)
        #expect(user.request(toSet: .seen, true, of: "../System/Shutdown") == nil)
    }

    @Test("marks wait for one user of the server, and not for another")
    func account() throws {
        #expect(try source("jellyfin+https://nas?userId=8f2c").account == "jellyfin+https://nas?userId=8f2c")
        #expect(try source("jellyfin+https://nas").account == "jellyfin+https://nas")
    }

    @Test("a kind of library that nobody reads is named")
    func otherKinds() throws {
        let error = #expect(throws: FilmFault.self) {
            try FilmServers.server(named: "plex+https://nas:32400")
        }
        #expect(error.map { "\($0)".contains("films of plex") } == true)
        #expect(try FilmServers.server(named: "https://nas/a+http://b") == nil)
    }

    @Test("the token goes into a field that every version takes")
    func token() throws {
        var url = try #require(URL(string: "https://nas:8920/Items"))
        var fields = HeaderFields()
        try source().authorize(&url, &fields, with: "abc\"123")
        #expect(fields["authorization"] == "MediaBrowser Token=\"abc123\"")
        #expect(url.absoluteString == "https://nas:8920/Items")
    }

    @Test("a poster is requested at the smallest of a few widths that is enough")
    func posters() throws {
        let poster = try #require(
            URL(string: "https://nas/Items/a/Images/Primary?tag=9&maxWidth=780&quality=90&format=Webp"))
        for (wanted, width) in [
            (1, "92"), (92, "92"), (93, "154"), (200, "342"), (780, "780"), (4000, "780"),
        ] {
            #expect(FilmServers.poster(poster, atLeast: wanted).parameter("maxWidth") == width)
        }
        #expect(FilmServers.isImmutable(poster))
        let other = try #require(URL(string: "https://nas/posters/a.jpg?maxWidth=1"))
        #expect(FilmServers.poster(other, atLeast: 92) == other && !FilmServers.isImmutable(other))
    }
}
