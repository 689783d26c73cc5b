import FoundationEssentials

/// The films of a feed: Atom (RFC 4287) or RSS 2.0, with the elements of Media RSS, Google's ratings and podcasts.
///
///     <feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"
///         xmlns:gd="http://schemas.google.com/g/2005">
///       <title>Top rated</title><link rel="next" href="?start-index=26"/>
///       <entry><id>tag:films.example,2008:faust</id><title>Faust</title><published>1926-10-14T00:00:00Z</published>
///         <author><name>F. W. Murnau</name></author><summary>A wager.</summary>
///         <link rel="alternate" type="text/html" href="https://films.example/faust"/>
///         <media:group><media:thumbnail url="faust.jpg" width="480" height="360"/>
///           <media:content url="faust.mp4" type="video/mp4" duration="6420"/></media:group>
///         <gd:rating average="4.8" min="1" max="5" numRaters="120"/></entry></feed>
///
/// Names count by their namespace, whatever the prefix. A film's members come from these elements, the first that has
/// content; each film is then checked like one of a `<catalogue>`:
///
/// | member | Atom | RSS 2.0 | both |
/// |---|---|---|---|
/// | id | id | guid, link | the film itself, title and year |
/// | title | title | title | media:title |
/// | year | published | pubDate | |
/// | director | author, the feed's author | dc:creator, author | media:credit first; itunes:author |
/// | overview | summary, content | description, content:encoded | media:description, itunes:summary |
/// | genres | category | category | |
/// | minutes | | | media:content, yt:duration, itunes:duration |
/// | media | link rel="enclosure" | enclosure | media:content first; only video and audio |
/// | poster | link rel="enclosure" | enclosure | media:thumbnail, media:content, itunes:image |
/// | page | link rel="alternate" | link | media:player |
/// | rating, votes, score | | | gd:rating, media:starRating |
struct FilmFeed: Sendable {
    /// The feed's title, if it has one.
    let name: String?
    /// The entries, unchecked.
    let entries: [XMLElement]
    /// The address of the next page (RFC 5005, section 3), relative to the feed, or absolute.
    let next: String?

    /// The feed's own elements, for entries without an author or a picture.
    private let head: FeedElements

    private static let entryNames: Set = ["entry", "item"]

    /// Takes the entries from the root of a feed.
    /// - Throws: `.wrongShape` for another root; `.tooLarge` for too many namespaces outside the entries.
    init(_ root: XMLElement) throws(CatalogueError) {
        try root.checkNamespaces(depth: 0)
        let container: XMLElement
        switch (root.namespace, root.localName) {
        case (Namespace.atom, "feed"): container = root
        case ("", "rss"):
            guard let channel = root.child("channel") else {
                throw .wrongShape(expected: "<channel> in <rss>", line: root.line)
            }
            try channel.checkNamespaces(depth: 0)
            container = channel
        case (_, "feed"):
            throw .wrongShape(expected: "<feed xmlns=\"\(Namespace.atom)\">", line: root.line)
        default:
            throw .wrongShape(expected: "<catalogue>, <feed> or <rss>, not <\(root.name)>", line: root.line)
        }
        entries = container.children.filter { Self.entryNames.contains($0.localName) }
        let others = container.children.filter { !Self.entryNames.contains($0.localName) }
        for element in others { try element.checkNamespaces() }
        head = FeedElements(others)
        name = head.title
        next = head.link("next")
    }

    /// Makes a film of an entry: a `<movie>` as in a catalogue.
    /// - Throws: `.tooLarge` for too many namespaces.
    func film(_ element: XMLElement) throws(CatalogueError) -> XMLElement {
        try element.checkNamespaces()
        let entry = FeedElements(element.children)
        var film = XMLElement(name: "movie", line: element.line)
        func add(_ name: String, _ text: String?) {
            guard let text else { return }
            film.children.append(XMLElement(name: name, line: element.line, text: text))
        }
        let title = entry.title
        let year = entry.year
        add("title", title)
        add("year", year.map(String.init))
        add("director", entry.director ?? head.director)
        add("overview", entry.overview)
        add("minutes", entry.minutes.map(String.init))
        let genres = entry.genres
        if !genres.isEmpty {
            var list = XMLElement(name: "genres", line: element.line)
            list.children = genres.map { XMLElement(name: "genre", line: element.line, text: $0) }
            film.children.append(list)
        }
        let page = entry.page
        let media = entry.media
        add("poster", entry.poster ?? head.ownPicture)
        add("media", media)
        add("page", page)
        if let rating = entry.rating {
            add(rating.votes == nil ? "score" : "rating", "\(rating.mean)")
            add("votes", rating.votes.map(String.init))
        }
        if let id = entry.id ?? page ?? media {
            // Many ids of feeds are addresses, but a film's id has no slash.
            let isUsable = FilmID.fault(id) == nil
            add("id", isUsable ? id : FilmID.make(title: title ?? "", year: year, from: id))
        } else if let title {
            // As an import does of a film without an id.
            add("id", FilmID.make(title: title, year: year))
        }
        return film
    }
}

extension Catalogue {
    /// The address of the page after this one, if the bytes are a feed that links to it (RFC 5005, section 3): as
    /// written, relative to the feed's own address, or absolute. Nil for any other document, and for the last page.
    public static func nextPage(in bytes: [UInt8]) -> String? {
        let bytes = XMLEncoding.utf8(bytes) ?? bytes
        // The search saves the reading of most documents for one link.
        guard
            bytes.first(where: { !$0.isWhitespace && !Document.byteOrderMark.contains($0) })
                == UInt8(ascii: "<"),
            hasQuoted("next", in: bytes)
        else { return nil }
        // Ignored: whoever reads the films gets them.
        guard case .xml(let root)? = try? Document(parsing: bytes) else { return nil }
        return (try? FilmFeed(root))?.next
    }

    /// Whether the word is somewhere in quotes, as an attribute's value.
    private static func hasQuoted(_ word: String, in bytes: [UInt8]) -> Bool {
        let quoted = ["\"\(word)\"", "'\(word)'"].map { Array($0.utf8) }
        for index in bytes.indices where bytes[index] == quoted[0][1] && index > 0 {
            if quoted.contains(where: { bytes[(index - 1)...].starts(with: $0) }) { return true }
        }
        return false
    }
}

/// The names of the namespaces that count.
private enum Namespace {
    static let atom = "http://www.w3.org/2005/Atom"
    static let media = "http://search.yahoo.com/mrss/"
    static let google = "http://schemas.google.com/g/2005"
    fileprivate static let youTube = "http://gdata.youtube.com/schemas/2007"
    static let podcast = "http://www.itunes.com/dtds/podcast-1.0.dtd"
    fileprivate static let dublinCore = "http://purl.org/dc/elements/1.1/"
    static let content = "http://purl.org/rss/1.0/modules/content/"
}

/// The elements of an entry, or of the feed around the entries, and what they say about a film.
private struct FeedElements: Sendable {
    /// The children, and those in the groups of Media RSS.
    private let elements: [XMLElement]

    /// The elements of Media RSS with others in them (version 1.5.1).
    private static let groups: Set = ["group", "content", "community"]
    /// The longest side of a picture that is needed, in pixels: it fills a screen.
    private static let neededSide = 1920
    /// The longest film, in seconds, that a catalogue accepts.
    private static let longest = 100_000.0 * 60
    /// The least and most of a rating that does not say them, as at YouTube.
    private static let stars = (least: 1.0, most: 5.0)

    init(_ children: [XMLElement]) {
        var elements: [XMLElement] = []
        func add(_ children: [XMLElement]) {
            for child in children {
                elements.append(child)
                if child.namespace == Namespace.media, Self.groups.contains(child.localName) {
                    add(child.children)
                }
            }
        }
        add(children)
        self.elements = elements
    }

    private func all(_ name: String, _ namespace: String) -> [XMLElement] {
        elements.filter { $0.localName == name && $0.namespace == namespace }
    }

    private func first(_ name: String, _ namespace: String) -> XMLElement? {
        elements.first { $0.localName == name && $0.namespace == namespace }
    }

    /// The first of these elements with text, as plain text.
    private func text(_ names: [(name: String, namespace: String)]) -> String? {
        for (name, namespace) in names {
            if let text = first(name, namespace).flatMap(Self.plain) { return text }
        }
        return nil
    }

    /// The plain text of a text construct (RFC 4287, section 3.1), of `content` (section 4.1.3) or of an element of
    /// another format; nil if it is blank, elsewhere or no text.
    private static func plain(_ element: XMLElement) -> String? {
        if element.attribute("src") != nil { return nil }
        let isHTML =
            switch element.attribute("type")?.lowercased() {
            case "html", "text/html": true
            // RSS has no type: its descriptions are HTML, and its titles often have markup too.
            case nil:
                ["description", "encoded"].contains(element.localName) && element.namespace != Namespace.media
                    || element.localName == "title" && element.namespace.isEmpty
            case "text", "plain", "text/plain", "xhtml": false
            default: Bool?.none
            }
        guard let isHTML else { return nil }
        let text = (isHTML ? HTMLText.plain(element.text) : HTMLText.plain(element)).collapsed
        return text.isEmpty ? nil : text
    }

    var id: String? {
        let id = (first("id", Namespace.atom) ?? first("guid", ""))?.text.trimmed
        return id?.isEmpty == false ? id : nil
    }

    var title: String? { text([("title", Namespace.atom), ("title", ""), ("title", Namespace.media)]) }

    /// The year in the text of a date, of RFC 3339 or RFC 822: its first number of four digits that can be one.
    var year: Int? {
        let date = first("published", Namespace.atom) ?? first("pubDate", "")
        let numbers = date?.text.split { !("0"..."9").contains($0) } ?? []
        return numbers.lazy.filter { $0.utf8.count == 4 }.compactMap { Int($0) }
            .first(where: FilmMember.years.contains)
    }

    var director: String? {
        let credited = all("credit", Namespace.media).filter {
            $0.attribute("role")?.lowercased() == "director"
        }
        let names =
            credited.isEmpty
            ? all("author", Namespace.atom).compactMap { $0.child("name") }
                + all("creator", Namespace.dublinCore)
            : credited
        let text = names.map(\.text.collapsed).filter { !$0.isEmpty }.joined(separator: ", ")
        if !text.isEmpty { return text }
        return self.text([("author", Namespace.podcast)]) ?? first("author", "").flatMap(Self.name)
    }

    /// The name of an author in RSS: `lawyer@boyer.net (Lawyer Boyer)`, or any text.
    private static func name(_ author: XMLElement) -> String? {
        let text = author.text.collapsed
        if text.hasSuffix(")"), let start = text.firstIndex(of: "("), text[..<start].contains("@") {
            return String(text[text.index(after: start)...].dropLast())
        }
        return text.isEmpty ? nil : text
    }

    var overview: String? {
        text([
            ("summary", Namespace.atom), ("content", Namespace.atom), ("description", ""),
            ("encoded", Namespace.content), ("description", Namespace.media), ("summary", Namespace.podcast),
        ])
    }

    /// The labels of the categories. A term that belongs to a scheme is for programs (RFC 4287, section 4.2.2).
    var genres: [String] {
        var genres: [String] = []
        for category in elements where category.localName == "category" {
            let text: String? =
                switch category.namespace {
                case Namespace.atom:
                    category.attribute("label")
                        ?? (category.attribute("scheme") == nil ? category.attribute("term") : nil)
                case "": category.text
                default: nil
                }
            if let genre = text?.collapsed, !genre.isEmpty, !genres.contains(genre) { genres.append(genre) }
        }
        return genres
    }

    /// The length in minutes, at least one.
    var minutes: Int? {
        let values =
            all("content", Namespace.media).map { $0.attribute("duration") }
            + all("duration", Namespace.youTube).map { $0.attribute("seconds") }
            + all("duration", Namespace.podcast).map(\.text)
        let seconds = values.lazy.compactMap(\.self).compactMap(Self.seconds).first
        return seconds.map { max(1, Int(($0 / 60).rounded())) }
    }

    /// The seconds in `6420`, `107:00` or `1:47:00`; nil for none.
    private static func seconds(_ text: String) -> Double? {
        var seconds = 0.0
        for part in text.trimmed.split(separator: ":", omittingEmptySubsequences: false) {
            guard let number = Double(part), number >= 0 else { return nil }
            seconds = seconds * 60 + number
        }
        return seconds > 0 && seconds <= longest ? seconds : nil
    }

    // MARK: Addresses

    /// The target of the first link with this relation (RFC 4287, section 4.2.7).
    func link(_ relation: String) -> String? {
        links(relation).lazy.compactMap { $0.address($0.attribute("href")) }.first
    }

    /// The links with this relation. A link without one is an alternate.
    private func links(_ relation: String) -> [XMLElement] {
        all("link", Namespace.atom).filter { ($0.attribute("rel") ?? "alternate") == relation }
    }

    /// The web page about the film.
    var page: String? {
        let alternates = links("alternate")
        let page = alternates.first { $0.attribute("type") == "text/html" } ?? alternates.first
        if let address = page.flatMap({ $0.address($0.attribute("href")) }) { return address }
        if let address = first("link", "").flatMap({ $0.address($0.text) }) { return address }
        return first("player", Namespace.media).flatMap { $0.address($0.attribute("url")) }
    }

    /// A file that an entry names.
    private struct File {
        let address: String
        let element: XMLElement
        /// `video`, `audio` or `image`, if the entry says so: the media type counts before Media RSS's `medium`.
        let kind: String?

        init?(_ element: XMLElement, address attribute: String) {
            guard let address = element.address(element.attribute(attribute)) else { return nil }
            self.address = address
            self.element = element
            let type = element.attribute("type")?.lowercased().split(separator: "/").first
            kind = type.map(String.init) ?? element.attribute("medium")?.lowercased()
        }

        private func number(_ attribute: String) -> Int {
            element.attribute(attribute).flatMap { Int($0) } ?? 0
        }

        /// The longer side in pixels; 0 if it is not given.
        var side: Int { max(number("width"), number("height"), 0) }
    }

    /// The files of Media RSS, and then the enclosures.
    private var files: [File] {
        all("content", Namespace.media).compactMap { File($0, address: "url") }
            + links("enclosure").compactMap { File($0, address: "href") }
            + all("enclosure", "").compactMap { File($0, address: "url") }
    }

    /// The film itself: the default file, else the first video, else the first audio.
    var media: String? {
        let files = files.filter { ["video", "audio"].contains($0.kind) && Self.isPlayed($0.address) }
        let film =
            files.first { $0.element.attribute("isDefault") == "true" } ?? files.first { $0.kind == "video" }
            ?? files.first
        return film?.address
    }

    /// Whether a player may get the address: not those of old telephones (rtsp).
    private static func isPlayed(_ address: String) -> Bool {
        guard let scheme = URL(string: address)?.scheme?.lowercased() else { return true }
        return ["http", "https", "file"].contains(scheme)
    }

    /// The largest picture up to the side that is needed, else the first without a size, else the smallest.
    var poster: String? {
        let pictures =
            all("thumbnail", Namespace.media).compactMap { File($0, address: "url") }
            + files.filter { $0.kind == "image" }
        let fitting = pictures.filter { (1...Self.neededSide).contains($0.side) }
        // The first of equals counts: the order is that of importance (Media RSS, media:thumbnail).
        if let best = fitting.max(by: { $0.side < $1.side })?.side {
            return fitting.first { $0.side == best }?.address
        }
        return pictures.first { $0.side == 0 }?.address ?? ownPicture
            ?? pictures.min { $0.side < $1.side }?.address
    }

    /// The picture of a podcast, or of one of its episodes.
    var ownPicture: String? {
        first("image", Namespace.podcast).flatMap { $0.address($0.attribute("href")) }
    }

    // MARK: Ratings

    /// The mean of a rating from 0 to 10, and the number of votes if that is given. Nil without a valid rating.
    var rating: (mean: Double, votes: Int?)? {
        first("rating", Namespace.google).flatMap { Self.rating($0, votes: "numRaters") }
            ?? first("starRating", Namespace.media).flatMap { Self.rating($0, votes: "count") }
    }

    private static func rating(_ element: XMLElement, votes name: String) -> (
        mean: Double, votes: Int?
    )? {
        func number(_ attribute: String) -> Double? { element.attribute(attribute).flatMap { Double($0) } }
        let least = number("min") ?? stars.least
        let most = number("max") ?? stars.most
        let votes = element.attribute(name).flatMap { Int($0) }
        guard let mean = number("average"), least < most, (most - least).isFinite,
            (least...most).contains(mean), votes ?? 1 > 0
        else {
            return nil
        }
        let scaled = (mean - least) / (most - least) * Movie.scores.upperBound
        // Two decimals, as means are given.
        return ((scaled * 100).rounded() / 100, votes)
    }
}
