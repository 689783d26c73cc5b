import FoundationEssentials
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import FilmSources
@testable import Films

@Suite("Folders of films, and files of facts", .bounded)
struct FilmFolderTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func write(_ text: String, _ name: String) throws {
        let file = URL(filePath: home.file(name))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func films(_ folder: FilmFolder) throws -> [SourceFilm] {
        var films: [SourceFilm] = []
        try folder.readPages { films += $0.films }
        return films
    }

    private func problems(_ folder: FilmFolder) throws -> [String] {
        var problems: [String] = []
        try folder.readPages { problems += $0.problems.map { "\($0)" } }
        return problems
    }

    private static let facts = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <movie>
          <title>Nosferatu</title><originaltitle>Nosferatu, eine Symphonie des Grauens</originaltitle>
          <sorttitle>Nosferatu</sorttitle>
          <ratings>
            <rating name="imdb" max="10"><value>7.9</value><votes>112000</votes></rating>
            <rating name="themoviedb" max="100" default="true"><value>76,9</value><votes>1900</votes></rating>
          </ratings>
          <outline>Short.</outline><plot>A clerk travels.</plot><runtime>94 min</runtime>
          <thumb aspect="set.poster">https://example.org/set.jpg</thumb>
          <thumb aspect="poster" preview="">https://example.org/nosferatu.jpg</thumb>
          <fanart><thumb>https://example.org/fan.jpg</thumb></fanart>
          <uniqueid type="imdb" default="true">tt0013442</uniqueid><uniqueid type="tmdb">653</uniqueid>
          <genre>Horror / Fantasy</genre><genre>Silent</genre><country>Germany</country>
          <set><name>Vampires</name><overview>…</overview></set>
          <director>F. W. Murnau / Another,</director><premiered>1922-02-16</premiered><year></year>
          <actor><name>Max Schreck</name><thumb>https://example.org/schreck.jpg</thumb></actor>
        </movie>
        https://www.themoviedb.org/movie/653
        """

    @Test("names that are not UTF-8 are left out with a warning")
    func namesInLatin1() throws {
        try write("", "Faust (1926)/faust.mkv")
        let bytes: [UInt8] = Array((home.path + "/Fr").utf8) + [0xFC] + Array("hling (1930)".utf8)
        try #require(
            unsafe (bytes + [0]).withUnsafeBufferPointer { name in
                unsafe name.withMemoryRebound(to: CChar.self) { unsafe mkdir($0.baseAddress!, 0o755) }
            } == 0)
        let folder = FilmFolder(home.path)
        #expect(try films(folder).map(\.movie.title) == ["Faust"])
        #expect(
            try problems(folder) == [
                "the name \"Fr\u{FFFD}hling (1930)\" is not UTF-8; rename it to see what is missing"
            ])
    }

    @Test("a file of facts gives the members that a film can have")
    func facts() throws {
        try write(Self.facts, "Nosferatu (1922)/movie.nfo")
        try write("", "Nosferatu (1922)/nosferatu.mkv")
        let film = try #require(try films(FilmFolder(home.path)).first)
        let movie = film.movie
        #expect(movie.title == "Nosferatu" && movie.year == 1922 && movie.minutes == 94)
        #expect(movie.originalTitle == "Nosferatu, eine Symphonie des Grauens" && movie.score == 7.7)
        #expect(movie.genres == ["Horror", "Fantasy", "Silent"] && movie.director == "F. W. Murnau, Another")
        #expect(movie.country == "Germany" && movie.overview == "A clerk travels.")
        #expect(movie.poster == "https://example.org/nosferatu.jpg")
        #expect(movie.media == "Nosferatu%20%281922%29/nosferatu.mkv")
        #expect(film.ids == ["imdb": "tt0013442", "tmdb": "653"] && movie.id == "nosferatu-1922")
    }

    @Test(
        "odd files of facts are read, or say why not",
        arguments: [
            ("https://www.imdb.com/title/tt0013442/", nil),
            ("<movie/>", nil),
            ("<movie></movie>\n", nil),
            (
                "<movie><title>Faust</title><rating>15.5</rating><year>0</year><runtime>x</runtime></movie>",
                nil
            ),
            ("\u{FEFF}<movie><title>Faust</title></movie>", nil),
            ("just words", "neither XML nor the address"),
            ("<movie>\0</movie>", "neither XML nor the address"),
            ("", "empty"),
            ("<movie><title>Faust", nil),
            ("<tvshow><title>Faust</title></tvshow>", "expected <movie>"),
            ("<!DOCTYPE movie [<!ENTITY a \"b\">]><movie><plot>&a;</plot></movie>", nil),
            (String(repeating: "<movie>", count: 100), "nested deeper"),
        ] as [(String, String?)])
    func oddFacts(text: String, problem: String?) throws {
        try write(text, "Faust (1926)/Faust.nfo")
        try write("", "Faust (1926)/Faust.mkv")
        let folder = FilmFolder(home.path)
        let movie = try #require(try films(folder).first?.movie)
        #expect(movie.title == "Faust" && movie.year == 1926)
        let found = try problems(folder)
        if let problem {
            #expect(
                found.count == 1 && found[0].hasPrefix("Faust (1926)/Faust.nfo: ")
                    && found[0].contains(problem))
        } else {
            #expect(found.isEmpty, "\(found)")
        }
    }

    @Test("a file of facts beyond the limit is not read")
    func tooLarge() throws {
        let blank = String(repeating: " ", count: NFOFile.maximumBytes)
        try write("<movie><title>Other</title>\(blank)</movie>", "Faust (1926)/Faust.nfo")
        try write("", "Faust (1926)/Faust.mkv")
        #expect(try films(FilmFolder(home.path)).map(\.movie.title) == ["Faust"])
        #expect(try problems(FilmFolder(home.path)).first?.contains("more than 1024 KiB") == true)
    }

    @Test(
        "the name of a file says title and year",
        arguments: [
            ("Nosferatu (1922)", "Nosferatu", 1922),
            ("Nosferatu.1922.1080p.BluRay.x264-GROUP", "Nosferatu", 1922),
            ("The_Golem_1920", "The Golem", 1920),
            ("2001 - A Space Odyssey [1968]", "2001 - A Space Odyssey", 1968),
            ("1917 (2019)", "1917", 2019), ("Blade Runner 2049 2017 2160p", "Blade Runner 2049", 2017),
            ("Metropolis", "Metropolis", nil), ("1917", "1917", nil), ("M", "M", nil),
            ("[group] Greed [Berlin] 480p", "Greed", nil), ("[rec]", "[rec]", nil),
            ("Greed 720p 1924", "Greed", 1924),
            ("The Last Call WEB-DL 1080p", "The Last Call", nil), ("Charlotte's Web", "Charlotte's Web", nil),
            ("My film 2013-12-09", "My film 2013-12-09", nil),
            ("My film 2013.12.09 2014", "My film 2013.12.09", 2014),
        ] as [(String, String, Int?)])
    func fileNames(name: String, title: String, year: Int?) {
        let read = FilmFileName(name)
        #expect(read.title == title && read.year == year)
    }

    @Test(
        "films are found by their videos, their parts and their facts; samples, trailers and extras are none")
    func layouts() throws {
        for name in [
            "Metropolis.1927.mkv", "Metropolis.1927-poster.jpg", "Metropolis.1927-trailer.mp4", "poster.jpg",
            "Faust (1926)/faust-cd1.avi", "Faust (1926)/faust-cd2.avi", "Faust (1926)/folder.png",
            "Faust (1926)/sample.mkv", "Two/One (1921).mp4", "Two/Two (1922).mp4", "Two/Two (1922).tbn",
            "Two/poster.jpg", "Extras/Interview.mkv", "Deep/er/Lost (1920).mkv", "notes.txt",
            "Metropolis-art.jpg",
        ] { try write("x", name) }
        try write("<movie><title>On a shelf</title></movie>", "Shelf/movie.nfo")
        let films = try films(FilmFolder(home.path))
        let found = films.map { "\($0.movie.title) \($0.movie.year ?? 0) \($0.movie.poster ?? "-")" }
        #expect(
            Set(found) == [
                "Metropolis 1927 Metropolis.1927-poster.jpg", "Faust 1926 Faust%20%281926%29/folder.png",
                "One 1921 -", "Two 1922 Two/Two%20%281922%29.tbn", "On a shelf 0 -", "Lost 1920 -",
            ])
        #expect(films.first { $0.movie.title == "On a shelf" }?.movie.media == nil)
        #expect(
            films.first { $0.movie.title == "Faust" }?.movie.media == "Faust%20%281926%29/faust-cd1.avi")
    }

    @Test(
        "the parts of a film have numbers or letters, perhaps in brackets; a single part is a film of its own"
    )
    func parts() throws {
        for name in [
            "Napoléon part a.mkv", "Napoléon part b.mkv", "Die Nibelungen (1924)(cd 1).mkv",
            "Die Nibelungen (1924)(cd 2).mkv", "Greed - pt10.mkv", "Greed - pt11.mkv", "Kill Bill Part 2.mkv",
            "Parsifal.mkv", "Part 3.mkv",
        ] { try write("x", name) }
        let films = try films(FilmFolder(home.path)).map { "\($0.movie.title) \($0.movie.year ?? 0)" }
        #expect(
            films == [
                "Die Nibelungen 1924", "Greed 0", "Kill Bill Part 2 0", "Napoléon 0", "Parsifal 0",
                "Part 3 0",
            ])
    }

    @Test("a film without a year has the name of its folder, but not that of the library")
    func namesWithoutYears() throws {
        try write("x", "The Golem/film.mkv")
        try write("x", "Greed/part 1.mkv")
        try write("x", "Greed/other.mkv")
        try write("<movie><year>99999999999999999999</year></movie>", "The Golem/movie.nfo")
        let films = try films(FilmFolder(home.path)).map { "\($0.movie.title) \($0.movie.year ?? 0)" }
        #expect(films.sorted() == ["The Golem 0", "other 0", "part 1 0"])
    }

    @Test("copies of discs are films, which a player opens by their index")
    func discs() throws {
        try write("", "Nosferatu (1922)/VIDEO_TS/VIDEO_TS.IFO")
        try write("", "Faust (1926)/BDMV/index.bdmv")
        try write("x", "Faust (1926)/poster.jpg")
        #expect(FilmFolder.hasFilms(home.path))
        let films = try films(FilmFolder(home.path)).map(\.movie)
        #expect(films.map(\.title) == ["Faust", "Nosferatu"] && films.map(\.year) == [1926, 1922])
        #expect(films[0].media == "Faust%20%281926%29/BDMV/index.bdmv")
        #expect(films[0].poster == "Faust%20%281926%29/poster.jpg")
        #expect(films[1].media == "Nosferatu%20%281922%29/VIDEO_TS/VIDEO_TS.IFO")
        let own = home.file("Faust (1926)")
        #expect(FilmFolder.hasFilms(own))
        let only = try self.films(FilmFolder(own)).map(\.movie)
        #expect(only.map(\.title) == ["Faust"] && only[0].media == "BDMV/index.bdmv")
        #expect(only[0].poster == "poster.jpg")
    }

    @Test("the folder of one film is a library with one film")
    func oneFilm() throws {
        try write("", "Nosferatu (1922)/nosferatu.mkv")
        try write(Self.facts, "Nosferatu (1922)/movie.nfo")
        try write("x", "Nosferatu (1922)/poster.jpg")
        try write("", "Nosferatu (1922)/Extras/interview.mkv")
        let films = try films(FilmFolder(home.file("Nosferatu (1922)"))).map(\.movie)
        #expect(films.map(\.title) == ["Nosferatu"] && films[0].year == 1922)
        #expect(films[0].media == "nosferatu.mkv" && films[0].poster == "poster.jpg")
    }

    @Test("a folder with seasons or tvshow.nfo is one series, with its episodes in order")
    func series() throws {
        for name in [
            "Fantomas/Season 1/Fantomas S01E02.mkv", "Fantomas/Season 1/Fantomas S01E01 - La Guillotine.mkv",
            "Fantomas/Specials/S00E01 making of.mkv", "Fantomas/Staffel 2/2x03.mkv",
            "Fantomas/Season 1/Fantomas S01E01 - La Guillotine-thumb.jpg", "Fantomas/trailers/a.mkv",
            "Faust (1926)/Faust.mkv",
        ] { try write("", name) }
        try write("x", "Fantomas/poster.jpg")
        try write(
            "<episodedetails><title>Juve contre Fantômas</title></episodedetails>",
            "Fantomas/Season 1/Fantomas S01E02.nfo")
        try write("<tvshow><title>Les Vampires</title><year>1915</year></tvshow>", "Vampires/tvshow.nfo")
        try write("", "Vampires/01 - La Tête coupée.mkv")
        let movies = try films(FilmFolder(home.path)).map(\.movie)
        #expect(movies.map(\.title) == ["Fantomas", "Faust", "Les Vampires"])
        #expect(movies[0].isSeries && movies[0].poster == "Fantomas/poster.jpg")
        #expect(
            movies[0].parts.map { "\($0.season ?? -1)x\($0.number ?? -1) \($0.title)" } == [
                "1x1 La Guillotine", "1x2 Juve contre Fantômas", "2x3 Episode 3", "0x1 making of",
            ])
        #expect(movies[0].media == movies[0].parts[0].media)
        #expect(movies[2].year == 1915 && movies[2].parts.map(\.title) == ["La Tête coupée"])
        #expect(!movies[1].isSeries)
    }

    @Test("an episode that comes, or facts of one that change, are seen by the next reading")
    func changedSeries() throws {
        try write("", "Show/Season 1/S01E01.mkv")
        let folder = FilmFolder(home.path)
        #expect(try films(folder)[0].movie.parts.map(\.title) == ["Episode 1"])
        try write("<episodedetails><title>One</title></episodedetails>", "Show/Season 1/S01E01.nfo")
        try write("", "Show/Season 1/S01E02.mkv")
        #expect(try films(folder)[0].movie.parts.map(\.title) == ["One", "Episode 2"])
    }

    @Test("versions that begin with the folder's name are one film, the largest picture first")
    func versions() throws {
        for name in ["- 1080p", "- 4K", "{edition-Restored}"] {
            try write("", "Faust (1926)/Faust (1926) \(name).mkv")
        }
        try write("<movie><title>Faust!</title></movie>", "Faust (1926)/movie.nfo")
        try write("x", "Faust (1926)/poster.jpg")
        try write("", "Two films (1920)/Golem.mkv")
        try write("", "Two films (1920)/Caligari.mkv")
        let movies = try films(FilmFolder(home.path)).map(\.movie)
        #expect(movies.map(\.title) == ["Faust!", "Caligari", "Golem"])
        #expect(movies[0].parts.map(\.title) == ["4K", "1080p", "Restored"])
        #expect(movies[0].media == "Faust%20%281926%29/Faust%20%281926%29%20-%204K.mkv")
        #expect(movies[0].poster == "Faust%20%281926%29/poster.jpg" && !movies[0].isSeries)
    }

    @Test(
        "folders are read eight levels deep, without those of systems, and with films named like extras at the top"
    )
    func depth() throws {
        let deep = (1...8).map { "level \($0)" }.joined(separator: "/")
        for name in [
            "Horror/N/Murnau/Nosferatu (1922)/Nosferatu.mkv", "\(deep)/Deep.mkv",
            "\(deep)/level 9/Deeper.mkv",
            "@eaDir/a.mkv", "Horror/#recycle/b.mkv", "$RECYCLE.BIN/c.mkv", "lost+found/d.mkv",
            "System Volume Information/e.mkv", "skipped/f.mkv", "Horror/Faust (1926)/Extras/g.mkv",
            "Horror/Faust (1926)/Faust.mkv", "Horror/Faust (1926)/Faust-trailer.mkv",
            "Horror/Faust (1926)/Faust-behindthescenes2.mkv", "Horror/Faust (1926)/sample.mkv",
            "Shorts/A Trip to the Moon (1902).mkv", "some/Kept.mkv", "some/Left.mkv", "some/Other.mkv",
        ] { try write("", name) }
        try write("", "skipped/.ignore")
        try write("# not this one\nLeft*\n", "some/.ignore")
        let folder = FilmFolder(home.path)
        let titles = try films(folder).map(\.movie.title)
        #expect(titles == ["Faust", "Nosferatu", "level 8", "A Trip to the Moon", "Kept", "Other"])
        var problems: [CatalogueError] = []
        try folder.readPages { problems += $0.problems }
        #expect(problems == [.tooDeep(folders: 1, levels: 8)])
    }

    @Test("a stream plays its address; pictures beside a phone's films come last, in a group of their own")
    func mixed() throws {
        try write("\n# a comment\nhttps://example.org/live.m3u8\n", "live.strm")
        try write("file:///etc/passwd", "local.strm")
        try write("", "VID_1.mp4")
        try write("x", "VID_1.jpg")
        try write("x", "IMG_2.jpg")
        try write("x", "fanart.jpg")
        try write("", "empty.jpg")
        let movies = try films(FilmFolder(home.path)).map(\.movie)
        #expect(movies.map(\.title) == ["live", "local", "VID 1", "IMG_2"])
        #expect(movies[0].media == "https://example.org/live.m3u8" && movies[1].media == "local.strm")
        #expect(movies[2].poster == "VID_1.jpg" && movies[2].genres.isEmpty)
        #expect(movies[3].poster == "IMG_2.jpg" && movies[3].genres == ["Pictures"])
    }

    @Test("a folder that cannot be read is named", .enabled(if: geteuid() != 0, "root reads every folder"))
    func unreadable() throws {
        try write("", "Faust (1926)/Faust.mkv")
        try write("", "Locked/Film.mkv")
        unsafe chmod(home.file("Locked"), 0)
        defer { unsafe chmod(home.file("Locked"), 0o700) }
        let folder = FilmFolder(home.path)
        #expect(try films(folder).map(\.movie.title) == ["Faust"])
        #expect(
            try problems(folder) == [
                "Locked: the folder cannot be read: Permission denied; its films are missing"
            ])
    }

    @Test("equal films have different ids, which stay")
    func identifiers() throws {
        try write("", "a/Faust (1926).mkv")
        try write("", "b/Faust (1926).mkv")
        let ids = try films(FilmFolder(home.path)).map(\.movie.id)
        #expect(Set(ids).count == 2 && ids[0] == "faust-1926")
        #expect(try films(FilmFolder(home.path)).map(\.movie.id) == ids)
    }

    @Test("links are followed, and a link to a folder around it leads no further")
    func followedLinks() throws {
        let outside = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: outside.file("Golem (1920)"), withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: outside.file("Golem (1920)/Golem.mkv")))
        try Data("<movie><title>The Golem</title></movie>".utf8).write(
            to: URL(filePath: outside.file("Golem (1920)/movie.nfo")))
        try write("", "in/Faust (1926).mkv")
        let files = FileManager.default
        try files.createSymbolicLink(atPath: home.file("out"), withDestinationPath: outside.path)
        try files.createSymbolicLink(atPath: home.file("in/loop"), withDestinationPath: home.path)
        try files.createSymbolicLink(atPath: home.file("in/nowhere"), withDestinationPath: "/no/such/place")
        let folder = FilmFolder(home.path)
        #expect(try films(folder).map(\.movie.title) == ["Faust", "The Golem"])
        #expect(try problems(folder).isEmpty)
    }

    @Test("a service leaves out links that lead out of the folder, and counts them in one line")
    func links() throws {
        let outside = try TemporaryFolder()
        try Data().write(to: URL(filePath: outside.file("Secret (1999).mkv")))
        try write("", "real/Faust (1926).mkv")
        let files = FileManager.default
        try files.createSymbolicLink(atPath: home.file("out"), withDestinationPath: outside.path)
        try files.createSymbolicLink(
            atPath: home.file("Secret.mkv"), withDestinationPath: outside.file("Secret (1999).mkv"))
        try files.createSymbolicLink(
            atPath: home.file("Again (1926).mkv"), withDestinationPath: home.file("real/Faust (1926).mkv"))
        let folder = FilmFolder(home.path, followsLinks: false)
        #expect(try Set(films(folder).map(\.movie.title)) == ["Faust", "Again"])
        #expect(
            try problems(folder) == [
                "2 links lead out of the folder and are left out; --follow-links follows such links"
            ])
    }

    @Test("a change is seen by the next reading: a new film, one that is gone, and edited facts")
    func changes() throws {
        try write(Self.facts, "Nosferatu (1922)/movie.nfo")
        try write("", "Nosferatu (1922)/nosferatu.mkv")
        try write("", "Faust (1926)/Faust.mkv")
        let folder = FilmFolder(home.path)
        #expect(try films(folder).map(\.movie.title) == ["Faust", "Nosferatu"])
        #expect(try films(folder).map(\.movie.title) == ["Faust", "Nosferatu"])
        try write(
            Self.facts.replacing("<title>Nosferatu</title>", with: "<title>Nosferatu!</title>"),
            "Nosferatu (1922)/movie.nfo")
        try write("", "Metropolis (1927)/Metropolis.mkv")
        try FileManager.default.removeItem(atPath: home.file("Faust (1926)"))
        #expect(try films(folder).map(\.movie.title) == ["Metropolis", "Nosferatu!"])
    }

    @Test("pages come in the order of the names, and the last one says so")
    func pages() throws {
        for number in 100..<350 { try write("", "Film \(number)/film.mkv") }
        var pages: [CataloguePage] = []
        try FilmFolder(home.path).readPages { pages.append($0) }
        #expect(pages.map(\.films.count) == [127, 100, 23] && pages.map(\.isLast) == [false, false, true])
        #expect(pages[0].films[0].movie.title == "film" || pages[0].films[0].movie.title == "Film 100")
    }

    @Test("a folder has films if there is a video or a file of facts within eight levels")
    func detection() throws {
        #expect(!FilmFolder.hasFilms(home.path))
        try write("", "a.jpg")
        try write("", "1/2/3/4/5/6/7/8/9/Film.mkv")
        #expect(!FilmFolder.hasFilms(home.path))
        // Below more folders than are looked into.
        for number in 100..<400 { try write("", "1/\(number)/text.txt") }
        try write("", "1/2/3/4/5/6/7/8/Film.nfo")
        #expect(FilmFolder.hasFilms(home.path))
    }
}
