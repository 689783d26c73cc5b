import TestTraits
import Testing

@testable import FilmSources
@testable import Films

@Suite("Names in folders of films", .bounded)
struct FolderNamesTests {
    @Test(
        "the number and the title of an episode",
        arguments: [
            ("Show S01E02 - The Title", "1x2 The Title"), ("show.s03e10.1080p.WEB-DL", "3x10 Episode 10"),
            ("Show - 1x02 - Title", "1x2 Title"), ("S1E1-E2 Two at once", "1x1 Two at once"),
            ("Episode 16", "-x16 Episode 16"), ("Show ep07 Title", "-x7 Title"), ("03 - Title", "-x3 Title"),
            ("Show 2009x03x04x15 - Name", "2009x3 Name"), ("S01x02 blah", "1x2 blah"),
            ("[H S] Hunter X Hunter - 136 [720p]", "-x136 Episode 136"), ("A 05", "-x5 Episode 5"),
            ("[C&S][Oda_no_Yabou][04][1920x1080][7620E503]", "-x4 Episode 4"), ("Faust 1926", nil),
            ("Show - 1234 [720p]", "-x1234 Episode 1234"),
            ("S01.E05", "1x5 Episode 5"), ("Making of", nil), ("The 39 Steps", nil),
        ] as [(String, String?)])
    func episodes(_ name: String, _ expected: String?) {
        let read = FolderNames.episode(name)
        #expect(read.map { "\($0.season.map(String.init) ?? "-")x\($0.number) \($0.title)" } == expected)
    }

    @Test(
        "the number of a season",
        arguments: [
            ("Season 1", 1), ("season 02", 2), ("S03", 3), ("Staffel 4", 4), ("5. Staffel", 5),
            ("Saison 6 VF", 6),
            ("Specials", 0), ("Season7", 7), ("Season 1922", nil), ("Seasons of love", nil), ("1", nil),
            ("Nosferatu", nil), ("The.Wonder.Years [S04][1080p.PDTV]", 4),
        ] as [(String, Int?)])
    func seasons(_ name: String, _ expected: Int?) {
        #expect(FolderNames.season(folder: name) == expected)
    }

    @Test(
        "videos, and what only belongs to one",
        arguments: [
            ("Faust.mkv", true), ("Faust.MP4", true), ("x.strm", true), ("Faust.iso", true),
            ("Faust.txt", false),
            ("Faust-trailer.mkv", false), ("trailer.mp4", false), ("Faust.sample.mkv", false),
            ("sample.faust.mkv", false), ("Faust-featurette.mkv", false), ("Faust-deletedscene3.mkv", false),
            ("Faust - trailer2.mkv", false), ("Trailer Park Boys.mkv", true), ("theme.mp4", false),
        ])
    func videos(_ name: String, _ isVideo: Bool) { #expect(FolderNames.isVideo(name) == isVideo) }

    @Test(
        "the version in a name",
        arguments: [
            ("Faust (1926)", ""), ("Faust (1926) - 4K", "4K"), ("faust (1926) [1080p]", "1080p"),
            ("Faust (1926) {edition-Director's Cut}", "Director's Cut"), ("Faust (1926).720p", "720p"),
            ("Faust (1926) and Mephisto", nil), ("Faust (1926) [Cut", nil), ("Faust", nil),
        ] as [(String, String?)])
    func versions(_ name: String, _ label: String?) {
        #expect(FolderNames.version(name, in: "Faust (1926)") == label)
    }

    @Test("the lines of a version's picture")
    func lines() {
        #expect(["4K HDR", "1080p", "720i x264", "Restored"].map(FolderNames.lines) == [2160, 1080, 720, 0])
    }

    @Test(
        "a running time in many forms, and nothing for others",
        arguments: [
            ("94", 94), ("94 min", 94), ("94 minutes", 94), ("1h 32m", 92), ("1 h 32 min", 92),
            ("1:32:00", 92),
            ("01:32", 92), ("PT92M", 92), ("PT1H32M", 92), ("5520s", 92), ("1h", 60), ("soon", nil),
            ("", nil),
            ("1:2:3:4", nil), ("-5", nil), ("12 parsecs", nil),
        ] as [(String, Int?)])
    func minutes(_ text: String, _ minutes: Int?) { #expect(NFOFile.minutes(text) == minutes) }

    private func file(_ text: String) throws -> NFOFile { try NFOFile(Array(text.utf8)) }

    @Test("what other programs write wrong spoils nothing else")
    func lenient() throws {
        let file = try file(
            """
            <?xml version="1.0"?>
            <!DOCTYPE movie [<!ENTITY a SYSTEM "file:///etc/passwd"> ]>
            <movie a="1" a=2 b><title>Rope & Anchor &eacute; &a; 1 < 2</title><br><plot>a\u{1}b]]></plott>
            <genre>Horror</genre><year>1932</year></movie>
            <movie><title>Second</title></movie>
            https://www.imdb.com/title/tt0013442/
            """)
        #expect(file.values[.title] == .text("Rope & Anchor é &a; 1 < 2"))
        #expect(file.ids == ["imdb": "tt0013442"])
        let cut = try self.file("<movie><title>Cut</title><plot>and what")
        #expect(cut.values[.title] == .text("Cut") && cut.values[.overview] == .text("and what"))
        let windows = try NFOFile(
            [0x3C] + Array("movie><title>L".utf8) + [0x92, 0xE9] + Array("</title>".utf8))
        #expect(windows.values[.title] == .text("L’é"))
        #expect(throws: CatalogueError.self) { try self.file("<album/>") }
        #expect(throws: CatalogueError.self) { try self.file(String(repeating: "<a>", count: 100)) }
    }

    @Test("of ratings with an impossible default the next one counts")
    func ratings() throws {
        func score(_ ratings: String) throws -> MovieFields.Value? {
            try file("<movie><title>T</title>\(ratings)</movie>").values[.score]
        }
        let good = "<rating max=\"10\"><value>7.39</value></rating>"
        #expect(
            try score("<ratings>\(good)<rating default=\"true\"><value>87</value></rating></ratings>")
                == .number(7.4))
        #expect(
            try score(
                "<ratings>\(good)<rating default=\"true\" max=\"100\"><value>87</value></rating></ratings>")
                == .number(8.7))
        #expect(
            try score("<ratings><rating><value>0</value></rating></ratings><rating>6,5</rating>")
                == .number(6.5))
        #expect(try score("<rating>15.5</rating>") == nil)
    }

    @Test("marks, actors, the tagline, the set and the trailer are read")
    func more() throws {
        let file = try file(
            """
            <movie><title>T</title><playcount>2</playcount><userrating>8</userrating><tagline>A line.</tagline>
            <actor><name>Max Schreck</name><role>Orlok</role></actor><actor><name> </name></actor>
            <set><name>Saga</name></set><trailer>plugin://plugin.video.youtube/?action=play_video&amp;videoid=abc</trailer></movie>
            """)
        #expect(file.marks.isSeen && file.marks.rating == 8)
        #expect(file.values[.cast] == .texts(["Max Schreck"]) && file.values[.tagline] == .text("A line."))
        #expect(file.values[.collection] == .text("Saga"))
        #expect(file.values[.trailer] == .text("https://www.youtube.com/watch?v=abc"))
        for seen in ["<watched>true</watched>", "<lastplayed>2024-05-01 20:00:00</lastplayed>"] {
            #expect(try self.file("<movie>\(seen)</movie>").marks.isSeen)
        }
        for unseen in [
            "<watched>false</watched>", "<lastplayed/>",
            "<playcount>0</playcount><lastplayed>1601-01-01</lastplayed>",
        ] {
            #expect(try !self.file("<movie>\(unseen)</movie>").marks.isSeen)
        }
        #expect(try self.file("<movie><set>Saga</set></movie>").values[.collection] == .text("Saga"))
    }
}
