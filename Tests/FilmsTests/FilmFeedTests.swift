import FoundationEssentials
import TestTraits
import Testing

@testable import Films

/// Feeds written by hand in the shapes that servers give.
enum Feeds {
    /// YouTube's `standardfeeds/top_rated`, version 2.
    static let topRated = """
        <?xml version='1.0' encoding='UTF-8'?>
        <feed xmlns='http://www.w3.org/2005/Atom' xmlns:openSearch='http://a9.com/-/spec/opensearch/1.1/'
          xmlns:gd='http://schemas.google.com/g/2005' xmlns:yt='http://gdata.youtube.com/schemas/2007'
          xmlns:media='http://search.yahoo.com/mrss/' gd:etag='W/&quot;CkYMQ3Y6&quot;'>
          <id>tag:youtube.com,2008:standardfeed:global:top_rated</id>
          <updated>2012-02-27T12:00:00.000Z</updated>
          <category scheme='http://schemas.google.com/g/2005#kind' term='http://gdata.youtube.com/#video'/>
          <title>Top Rated</title>
          <link rel='alternate' type='text/html' href='https://www.youtube.com/browse?s=tr'/>
          <link rel='self' type='application/atom+xml' href='https://g.example/top_rated?start-index=1'/>
          <link rel='next' type='application/atom+xml' href='https://g.example/top_rated?start-index=26&amp;v=2'/>
          <author><name>YouTube</name><uri>https://www.youtube.com/</uri></author>
          <openSearch:totalResults>100</openSearch:totalResults>
          <entry gd:etag='W/&quot;A&quot;'>
            <id>tag:youtube.com,2008:video:jNQXAC9IVRw</id>
            <published>2005-04-23T20:31:52.000Z</published><updated>2012-02-27T11:59:00.000Z</updated>
            <category scheme='http://schemas.google.com/g/2005#kind' term='http://gdata.youtube.com/#video'/>
            <category scheme='http://gdata.youtube.com/schemas/2007/categories.cat' term='Comedy' label='Comedy'/>
            <title>At the &lt;zoo&gt; &amp; back</title>
            <content type='application/x-shockwave-flash' src='https://www.youtube.com/v/jNQXAC9IVRw?f=standard'/>
            <link rel='alternate' type='text/html' href='https://www.youtube.com/watch?v=jNQXAC9IVRw'/>
            <author><name>jawed</name><uri>https://g.example/feeds/api/users/jawed</uri></author>
            <gd:comments><gd:feedLink href='https://g.example/comments' countHint='100'/></gd:comments>
            <media:group>
              <media:category label='Comedy' scheme='http://gdata.youtube.com/schemas/2007/categories.cat'
                >Comedy</media:category>
              <media:content url='https://www.youtube.com/v/jNQXAC9IVRw' type='application/x-shockwave-flash'
                medium='video' isDefault='true' expression='full' duration='91' yt:format='5'/>
              <media:content url='rtsp://v3.example/video.3gp' type='video/3gpp' medium='video' duration='91'/>
              <media:description type='plain'>Elephants
              with long fronts.</media:description>
              <media:player url='https://www.youtube.com/watch?v=jNQXAC9IVRw&amp;feature=youtube_gdata_player'/>
              <media:thumbnail url='https://i.ytimg.com/vi/x/default.jpg' height='90' width='120' time='00:00:09'/>
              <media:thumbnail url='https://i.ytimg.com/vi/x/hqdefault.jpg' height='360' width='480'/>
              <media:thumbnail url='https://i.ytimg.com/vi/x/1.jpg' height='90' width='120' time='00:00:04.500'/>
              <media:title type='plain'>At the zoo</media:title>
              <yt:duration seconds='91'/>
            </media:group>
            <gd:rating average='4.8' max='5' min='1' numRaters='50000' rel='http://schemas.google.com/g/2005#overall'/>
            <yt:statistics favoriteCount='1' viewCount='2'/>
          </entry>
        </feed>
        """

    static let topRatedMovies = [
        Movie(
            id: "tag:youtube.com,2008:video:jNQXAC9IVRw", title: "At the <zoo> & back", year: 2005,
            director: "jawed", minutes: 2, genres: ["Comedy"], overview: "Elephants with long fronts.",
            poster: "https://i.ytimg.com/vi/x/hqdefault.jpg",
            page: "https://www.youtube.com/watch?v=jNQXAC9IVRw", rating: 9.5, votes: 50_000)
    ]

    /// RSS 2.0 with the elements of Media RSS.
    static let rss = """
        <rss version="2.0" xmlns:m="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom"
             xmlns:dc="http://purl.org/dc/elements/1.1/">
          <channel>
            <title>Silents</title><link>https://films.example/</link><description>All of them</description>
            <atom:link rel="next" href="page2.rss"/>
            <item>
              <title>Nosferatu</title><link>https://films.example/nosferatu</link>
              <guid isPermaLink="false">nosferatu</guid><pubDate>Sat, 04 Mar 1922 00:00:00 +0100</pubDate>
              <description><![CDATA[<p>A clerk&rsquo;s <b>journey</b> east.<br>Shadows &amp; rats.</p>]]></description>
              <category>Horror</category><category> Fantasy </category><category>Horror</category>
              <dc:creator>Prana-Film</dc:creator>
              <m:credit role="producer">Albin Grau</m:credit><m:credit role="director">F. W. Murnau</m:credit>
              <m:content url="nosferatu.mp3" type="audio/mpeg"/>
              <m:content url="nosferatu.mp4" medium="video" duration="5640">
                <m:thumbnail url="small.jpg" width="80"/>
              </m:content>
              <m:content url="huge.png" type="image/png" width="9000" height="6000"/>
              <m:content url="large.png" type="image/png" width="1200" height="1800"/>
              <m:community><m:starRating average="4" count="0" min="1" max="10"/></m:community>
            </item>
            <item>
              <title>Faust</title><link>https://films.example/faust</link>
              <author>office@films.example (UFA)</author>
              <enclosure url="https://films.example/faust.jpg" type="image/jpeg" length="1"/>
              <m:community><m:starRating average="3.5"/></m:community>
            </item>
          </channel>
        </rss>
        """

    static let rssMovies = [
        Movie(
            id: "nosferatu", title: "Nosferatu", year: 1922, director: "F. W. Murnau", minutes: 94,
            genres: ["Horror", "Fantasy"], overview: "A clerk’s journey east. Shadows & rats.",
            poster: "large.png", media: "nosferatu.mp4", page: "https://films.example/nosferatu"),
        Movie(
            id: FilmID.make(title: "Faust", year: nil, from: "https://films.example/faust"), title: "Faust",
            director: "UFA", score: 6.25, poster: "https://films.example/faust.jpg",
            page: "https://films.example/faust"),
    ]

    /// A podcast.
    static let podcast = """
        <?xml version="1.0" encoding="UTF-8"?>
        <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
             xmlns:content="http://purl.org/rss/1.0/modules/content/">
          <channel>
            <title>Talking Pictures</title><itunes:author>Radio Nine</itunes:author>
            <itunes:image href="https://radio.example/cover.jpg"/>
            <item>
              <title>Episode 1</title><guid>e1</guid><pubDate>Fri, 30 May 2003 11:05:42 GMT</pubDate>
              <content:encoded><![CDATA[<style>p { color: red }</style><p>Sound &#8212; at last.]]></content:encoded>
              <enclosure url="https://radio.example/1.mp3" length="1234" type="audio/mpeg"/>
              <itunes:duration>1:02:10</itunes:duration><itunes:image href="https://radio.example/1.jpg"/>
            </item>
            <item>
              <title>Episode 2</title><guid>e2</guid><itunes:author>A guest</itunes:author>
              <enclosure url="https://radio.example/2.mp3" length="1234" type="audio/mpeg"/>
              <itunes:duration>20</itunes:duration>
            </item>
          </channel>
        </rss>
        """

    static let podcastMovies = [
        Movie(
            id: "e1", title: "Episode 1", year: 2003, director: "Radio Nine", minutes: 62,
            overview: "Sound — at last.", poster: "https://radio.example/1.jpg",
            media: "https://radio.example/1.mp3"),
        Movie(
            id: "e2", title: "Episode 2", director: "A guest", minutes: 1,
            poster: "https://radio.example/cover.jpg", media: "https://radio.example/2.mp3"),
    ]

    /// An Atom feed with these entries, and more in its head.
    static func atom(_ entries: String, attributes: String = "", head: String = "") -> String {
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:media='http://search.yahoo.com/mrss/' "
            + "xmlns:gd='http://schemas.google.com/g/2005' \(attributes)>\(head)\(entries)</feed>"
    }
}

@Suite("Feeds of films", .bounded)
struct FilmFeedTests {
    /// The only film of an Atom feed with this entry.
    private func film(_ content: String, attributes: String = "", head: String = "") throws -> Movie {
        let entry = "<entry><id>a</id><title>A</title>\(content)</entry>"
        let text = Feeds.atom(entry, attributes: attributes, head: head)
        return try #require(try Catalogue(parsing: Array(text.utf8)).movies.first)
    }

    @Test(
        "a feed is a catalogue",
        arguments: [
            (Feeds.topRated, "Top Rated", Feeds.topRatedMovies), (Feeds.rss, "Silents", Feeds.rssMovies),
            (Feeds.podcast, "Talking Pictures", Feeds.podcastMovies),
        ])
    func read(text: String, name: String, movies: [Movie]) throws {
        let bytes = Array(text.utf8)
        let catalogue = try Catalogue(parsing: bytes)
        #expect(catalogue.name == name && catalogue.problems == [])
        #expect(catalogue.movies == movies)
        // An import reads the same films.
        let documents = try CatalogueDocuments(parsing: bytes)
        #expect(documents.name == name && documents.count == movies.count)
        var imported: [Movie] = []
        try documents.forEach { position, film in imported.append(try film.get().movie(position: position)) }
        #expect(imported == movies)
        // A list of posters, too.
        #expect(try Manifest(parsing: bytes).entries.map(\.address) == movies.compactMap(\.poster))
    }

    @Test("a name counts by its namespace, not by its prefix")
    func namespaces() throws {
        let text = """
            <a:feed xmlns:a="http://www.w3.org/2005/Atom" xmlns:x="urn:other"><x:title>Not this</x:title>
              <a:title>Feed</a:title><a:entry xmlns:r="http://schemas.google.com/g/2005"><a:id>1</a:id>
              <x:title>Nor this</x:title><a:title>One</a:title><x:rating average="1" min="0" max="1"/>
              <r:rating average="1" min="0" max="4"/></a:entry></a:feed>
            """
        let catalogue = try Catalogue(parsing: Array(text.utf8))
        #expect(catalogue.name == "Feed")
        #expect(catalogue.movies == [Movie(id: "1", title: "One", score: 2.5)])
    }

    @Test(
        "a text of any type becomes plain text",
        arguments: [
            ("<summary>1 &lt; 2 &amp;amp; 3</summary>", "1 < 2 &amp; 3"),
            ("<summary type='text'>&lt;b&gt;\n\n x</summary>", "<b> x"),
            (
                "<summary type='html'>a&lt;br/&gt;b &lt;i&gt;c&lt;/i&gt;d &amp;eacute;&amp;#233;&amp;amp;lt;"
                    + "</summary>", "a b cd éé&lt;"
            ),
            (
                "<content type='HTML'>&lt;!-- x > y --&gt;a &lt; b&lt;script&gt;if (1&lt;2) x&lt;/script&gt;"
                    + "</content>", "a < b"
            ),
            (
                "<summary type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>One <b>two</b>, é<p>four</p>five"
                    + "<script>x</script></div></summary>", "One two, é four five"
            ),
            ("<summary> </summary><content>from the content</content>", "from the content"),
            ("<content type='text/plain'>plain</content>", "plain"),
            ("<content type='image/png'>aGVsbG8=</content>", nil),
            ("<content src='https://films.example/a.html' type='text/html'>x</content>", nil),
            ("<media:group><media:description type='html'>&lt;p&gt;d</media:description></media:group>", "d"),
        ])
    func texts(content: String, overview: String?) throws {
        #expect(try film(content).overview == overview)
    }

    @Test(
        "damaged HTML gives text",
        arguments: [
            ("a &amp b &nosuch; &#xFFFFFF; &#0;", "a &amp b &nosuch; \u{FFFD} \u{FFFD}"),
            ("it&#146;s", "it’s"),
            ("a <b title=\">\" x='>'>c</b>", "a c"), ("a <b", "a "), ("a <!-- b", "a  "), ("<", "<"),
            ("a<", "a<"),
            ("</", "</"), ("a </ b>", "a </ b>"), ("<!", " "), ("<!--", " "), ("&", "&"), ("&;", "&;"),
            ("<style>x", " "), ("<p it's>a</p>", " a "),
        ])
    func damagedHTML(html: String, text: String) {
        #expect(HTMLText.plain(html) == text)
    }

    @Test(
        "ratings of any scale become 0 to 10; invalid ones are none",
        arguments: [
            ("<gd:rating average='4.8' min='1' max='5' numRaters='3'/>", 9.5, 3),
            ("<gd:rating average='75' min='0' max='100'/>", 7.5, 0),
            ("<gd:rating average='3'/>", 5, 0),
            ("<gd:rating average='0' min='1' max='5' numRaters='0'/>", nil, 0),
            ("<gd:rating average='6' min='1' max='5'/>", nil, 0),
            ("<gd:rating average='1' min='1' max='1'/>", nil, 0),
            ("<gd:rating average='nan' min='1' max='5'/>", nil, 0),
            ("<gd:rating average='0' min='-1e308' max='1.7e308' numRaters='2'/>", nil, 0),
            ("<gd:rating min='1' max='5' numRaters='-2'/>", nil, 0),
            ("<gd:rating average='2' numRaters='0'/><media:starRating average='5' count='7'/>", 10, 7),
            (
                "<media:group><media:community><media:starRating average='4.9' count='8' min='1' max='5'/>"
                    + "</media:community></media:group>", 9.75, 8
            ),
        ])
    func ratings(content: String, value: Double?, votes: Int) throws {
        let movie = try film(content)
        #expect(movie.rankingScore == value && movie.votes == votes)
        #expect((movie.score == nil) == (votes > 0 || value == nil))
    }

    @Test(
        "the poster is the largest picture that fits a screen, else the first without a size, else the smallest",
        arguments: [
            ([("a", "100", "90"), ("b", "600", "900"), ("c", "900", "600"), ("d", "3000", "1")], "b"),
            ([("a", "x", nil), ("b", nil, nil), ("c", "5000", "5000")], "a"),
            ([("a", "5000", nil), ("b", "4000", nil)], "b"),
            ([("", "100", "100"), ("b", "-5", nil)], "b"), ([], nil),
        ] as [([(String, String?, String?)], String?)])
    func posters(thumbnails: [(String, String?, String?)], poster: String?) throws {
        let content = thumbnails.map { url, width, height in
            "<media:thumbnail url='\(url)'\(width.map { " width='\($0)'" } ?? "")"
                + "\(height.map { " height='\($0)'" } ?? "")/>"
        }
        #expect(try film(content.joined()).poster == poster)
    }

    @Test("an enclosure is the film or its poster by its type; other files are neither")
    func enclosures() throws {
        let movie = try film(
            """
            <link rel='enclosure' type='application/pdf' href='a.pdf'/><link rel='enclosure' href='b'/>
            <link rel='enclosure' type='image/jpeg' href='c.jpg'/><link rel='enclosure' type='audio/ogg' href='d.ogg'/>
            <link rel='enclosure' type='video/webm' href='e.webm'/><link href='f.html'/>
            """)
        #expect(movie.poster == "c.jpg" && movie.media == "e.webm" && movie.page == "f.html")
        let chosen = try film(
            "<media:content url='a.mp4' type='video/mp4'/>"
                + "<media:content url='b.mp4' type='video/mp4' isDefault='true'/>")
        #expect(chosen.media == "b.mp4")
    }

    @Test("relative addresses start from the nearest xml:base, which may be relative itself")
    func bases() throws {
        let movie = try film(
            """
            <link rel='alternate' href='a.html'/>
            <media:group xml:base='pictures/'><media:thumbnail url='a.jpg'/></media:group>
            <link xml:base='https://cdn.example/' rel='enclosure' type='video/mp4' href='a.mp4'/>
            """, attributes: "xml:base='https://films.example/x/feed.xml'")
        #expect(movie.page == "https://films.example/x/a.html")
        #expect(movie.poster == "https://films.example/x/pictures/a.jpg")
        #expect(movie.media == "https://cdn.example/a.mp4")
        let relative = try film("<link href='a.html'/>", attributes: "xml:base='deep/'")
        #expect(relative.page == "deep/a.html")
    }

    @Test("the feed's author made the entries that name none")
    func inheritedAuthor() throws {
        let head = "<author><name> Studio\nNine </name></author>"
        #expect(try film("", head: head).director == "Studio Nine")
        let own =
            "<author><name>A</name></author><author><email>x@y</email></author><author><name>B</name></author>"
        #expect(try film(own, head: head).director == "A, B")
    }

    @Test("an id that is an address becomes one that a library can have, always the same")
    func identifiers() throws {
        func id(_ written: String) throws -> String? {
            let entry = "<entry><id>\(written)</id><title>Faust</title><published>1926</published></entry>"
            let text = Feeds.atom(entry)
            return try Catalogue(parsing: Array(text.utf8)).movies.first?.id
        }
        let (a, b) = (try id("http://films.example/a"), try id("http://films.example/b"))
        #expect(a == "faust-1926-o6fuft7ahbsy" && a != b)
        #expect(FilmID.fault(try #require(b)) == nil)
        #expect(try id(" tag:films.example,2008:faust ") == "tag:films.example,2008:faust")
    }

    @Test("an entry without a title or with too many namespaces is left out, with its line")
    func leftOut() throws {
        let declarations = (0..<200).map { " xmlns:p\($0)='urn:\($0)'" }.joined()
        let text = Feeds.atom(
            """

            <entry><id>a</id><title>A</title></entry>
            <entry><id>b</id><title type="html">&lt;br&gt;</title></entry>
            <entry><id>c</id><title>C</title><x\(declarations)/></entry>
            <entry><title>D</title></entry>
            <entry><id>a</id><title>Again</title></entry>
            <entry/>
            <entry><id>e</id><title>E</title><published>soon</published><media:content duration='-1'/></entry>

            """)
        let bytes = Array(text.utf8)
        let catalogue = try Catalogue(parsing: bytes)
        #expect(
            catalogue.movies == [
                Movie(id: "a", title: "A"), Movie(id: "d", title: "D"), Movie(id: "e", title: "E"),
            ])
        #expect(
            catalogue.problems == [
                .missingField(movie: "film 2 (\"b\")", field: "title", line: 3),
                .tooLarge(limit: 100, unit: "namespaces around an element"),
                .duplicateIdentifier(id: "a", line: 6),
                .missingField(movie: "film 6", field: "id", line: 7),
            ])
        var left = 0
        try CatalogueDocuments(parsing: bytes).forEach { position, film in
            // Ignored: it is the one above.
            if (try? film.get().movie(position: position)) == nil { left += 1 }
        }
        #expect(left == 3)
    }

    @Test("an empty feed is an empty catalogue")
    func empty() throws {
        let catalogue = try Catalogue(parsing: Array(Feeds.atom("").utf8))
        #expect(catalogue.movies == [] && catalogue.problems == [] && catalogue.name == nil)
    }

    @Test("another document has an error that names what is read")
    func refused() {
        #expect(
            readError("<feed/>")
                == .wrongShape(expected: "<feed xmlns=\"http://www.w3.org/2005/Atom\">", line: 1))
        #expect(readError("\n<rss version='2.0'/>") == .wrongShape(expected: "<channel> in <rss>", line: 2))
        for text in ["<a:feed/>", "<feed a:x='1'/>", Feeds.atom("<entry><id>a</id><x:y/></entry>")] {
            #expect(readError(text)?.description.contains("a prefix that is not declared;") == true)
        }
        let bomb =
            "<!DOCTYPE feed [<!ENTITY a 'b'><!ENTITY c '&a;&a;&a;'>]>" + Feeds.atom("<title>&c;</title>")
        #expect(readError(bomb) == .doctypeRefused(line: 1))
        let declarations = (0..<200).map { " xmlns:p\($0)='urn:\($0)'" }.joined()
        #expect(
            readError(Feeds.atom("<entry/>", attributes: declarations))
                == .tooLarge(limit: 100, unit: "namespaces around an element"))
    }

    @Test("a feed names its next page wherever the link stands; other documents name none")
    func next() throws {
        func next(_ text: String) -> String? { Catalogue.nextPage(in: Array(text.utf8)) }
        #expect(next(Feeds.topRated) == "https://g.example/top_rated?start-index=26&v=2")
        #expect(next("\u{FEFF} \n" + Feeds.rss) == "page2.rss")
        #expect(next(Feeds.podcast) == nil)
        let link = "<link rel=\"next\" href=\"?p=2\"/>"
        #expect(next(Feeds.atom("<entry/>" + link)) == "?p=2")
        let based = Feeds.atom(link, attributes: "xml:base='https://films.example/x'")
        #expect(next(based) == "https://films.example/x?p=2")
        #expect(next(Feeds.atom("<entry>\(link)</entry><link rel='next'/>")) == nil)
        for text in ["", "\"next\"", "<catalogue name=\"next\"/>", "<feed a=\"next\"", Fixtures.json] {
            #expect(next(text) == nil, "\(text)")
        }
    }

    @Test("an entry without an id, a link and a file gets the id that an import makes of its title")
    func madeID() throws {
        let rss = """
            <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>T</title>
            <item><title>El Camión</title><pubDate>Sat, 04 Mar 1977 00:00:00 +0100</pubDate></item>
            <item><title>Faust</title><media:thumbnail url="faust.jpg"/></item></channel></rss>
            """
        let catalogue = try Catalogue(parsing: Array(rss.utf8))
        #expect(catalogue.problems == [])
        #expect(
            catalogue.movies == [
                Movie(id: "el-camion-1977", title: "El Camión", year: 1977),
                Movie(id: "faust", title: "Faust", poster: "faust.jpg"),
            ])
    }

    @Test(
        "markup in a title of RSS is left out, and in Atom it is text unless the type says otherwise",
        arguments: [
            ("<![CDATA[<b>Faust</b> &amp; Co]]>", "Faust & Co"), ("&lt;i&gt;Faust&lt;/i&gt;", "Faust"),
            ("1 &lt; 2", "1 < 2"), ("Tom &amp; Jerry", "Tom & Jerry"),
        ])
    func titles(title: String, text: String) throws {
        let rss =
            "<rss><channel><title>T</title><item><guid>a</guid><title>\(title)</title></item></channel></rss>"
        #expect(try Catalogue(parsing: Array(rss.utf8)).movies.map(\.title) == [text])
        let atom = Feeds.atom("<entry><id>a</id><title>&lt;b&gt;</title></entry>")
        #expect(try Catalogue(parsing: Array(atom.utf8)).movies.map(\.title) == ["<b>"])
    }

    /// A feed in another encoding, which its declaration or a byte order mark names.
    private static func feed(_ encoding: String) -> String {
        "<?xml version='1.0' encoding='\(encoding)'?>\n<rss><channel><title>Stumm – é</title>"
            + "<item><guid>a</guid><title>Häxan</title></item></channel></rss>"
    }

    private static let otherEncodings: [(name: String, bytes: [UInt8])] = {
        let wide = Array(feed("UTF-16").utf16)
        let latin = feed("ISO-8859-1").unicodeScalars.map { $0 == "–" ? 0x96 : UInt8($0.value) }
        let windows = feed("windows-1252").unicodeScalars.map { $0 == "–" ? 0x96 : UInt8($0.value) }
        return [
            ("ISO-8859-1", latin), ("windows-1252", windows),
            ("UTF-16, big end first", [0xFE, 0xFF] + wide.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }),
            (
                "UTF-16, little end first",
                [0xFF, 0xFE] + wide.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            ),
        ]
    }()

    @Test("a feed in ISO-8859-1, Windows-1252 or UTF-16 is read", arguments: otherEncodings)
    func encodings(name: String, bytes: [UInt8]) throws {
        let catalogue = try Catalogue(parsing: bytes)
        #expect(catalogue.name == "Stumm – é")
        #expect(catalogue.movies == [Movie(id: "a", title: "Häxan")])
        #expect(try CatalogueDocuments(parsing: bytes).name == "Stumm – é")
    }

    @Test("another encoding hides no DOCTYPE, and broken bytes give an error")
    func refusedEncodings() {
        let hidden = "<?xml version='1.0' encoding='ISO-8859-1'?>\n<!DOCTYPE c [<!ENTITY a 'b'>]><catalogue/>"
        #expect(throws: CatalogueError.doctypeRefused(line: 2)) { try Catalogue(parsing: Array(hidden.utf8)) }
        let wide: [UInt8] = [0xFF, 0xFE] + "<!DOCTYPE c><catalogue/>".utf8.flatMap { [$0, 0] }
        #expect(throws: CatalogueError.doctypeRefused(line: 1)) { try Catalogue(parsing: wide) }
        let cut: [UInt8] = [0xFF, 0xFE] + "<catalogue><".utf8.flatMap { [$0, 0] }.dropLast()
        #expect(throws: CatalogueError.self) { try Catalogue(parsing: cut) }
    }
}
