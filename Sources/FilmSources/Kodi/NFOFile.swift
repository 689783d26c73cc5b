import Films

/// The facts of a film in a file beside it, as Kodi reads and writes them (https://kodi.wiki/view/NFO_files/Movies):
///
///     <movie><title>Nosferatu</title><originaltitle>Nosferatu, eine Symphonie des Grauens</originaltitle>
///       <ratings><rating name="imdb" max="10" default="true"><value>7,9</value><votes>112000</votes></rating></ratings>
///       <year>1922</year><runtime>94</runtime><genre>Horror</genre><director>F. W. Murnau</director><plot>…</plot>
///       <uniqueid type="imdb" default="true">tt0013442</uniqueid>
///       <thumb aspect="poster">https://example.org/nosferatu.jpg</thumb></movie>
///     https://www.imdb.com/title/tt0013442/
///
/// Such files come from many programs. The address behind the XML may be missing, or be all there is.
struct NFOFile {
    /// The members that the file has, without an id.
    private(set) var values = MovieFields.Values()
    /// The film's ids in databases, by their names.
    private(set) var ids: [String: String] = [:]
    /// The poster as written: an address, or a path on some machine.
    private(set) var thumb: String?
    /// Whether there is an address of a web page outside the XML.
    private var hasAddress = false

    /// The most bytes of a file; an ordinary one has a few thousand.
    static let maximumBytes = 1 << 20
    /// The most elements: more would take longer than all other films of a folder.
    private static let maximumElements = 20_000

    /// - Throws: why the file cannot be read. Its film is still a film, with the name of its file.
    init(_ bytes: [UInt8]) throws(CatalogueError) {
        let (text, start, _) = try Document.text(bytes, limit: Self.maximumBytes)
        try Document.requireUTF8(text)
        let (xml, rest) = Self.split(text[start...])
        if !rest.isEmpty { readAddresses(String(decoding: rest, as: UTF8.self)) }
        guard !xml.isEmpty else {
            if !hasAddress { throw .unrecognized }
            return
        }
        let root = try XMLReader.read(xml, maximumElements: Self.maximumElements)
        guard root.localName == "movie" else {
            throw .wrongShape(expected: "<movie>, not <\(root.name)>", line: root.line)
        }
        read(root)
    }

    /// An error of a file of facts, for people.
    static func explanation(_ error: CatalogueError) -> String {
        switch error {
        case .empty: "it is empty"
        case .unrecognized: "it has neither XML nor the address of a web page"
        case .tooLarge(let limit, "bytes"): "it has more than \(limit >> 10) KiB"
        default: "\(error)"
        }
    }

    /// The XML, up to the end of its root, and the text behind it.
    private static func split(
        _ document: ArraySlice<UInt8>
    ) -> (xml: ArraySlice<UInt8>, rest: ArraySlice<UInt8>) {
        guard let first = document.first(where: { !$0.isWhitespace }), first == UInt8(ascii: "<") else {
            return ([], document)
        }
        for text in ["</movie>", "<movie/>", "<movie />"] {
            let end = Array(text.utf8)
            var index = document.endIndex - end.count
            while index >= document.startIndex {
                if document[index] == end[0], document[index...].starts(with: end) {
                    return (document[..<(index + end.count)], document[(index + end.count)...])
                }
                index -= 1
            }
        }
        return (document, [])
    }

    /// Finds the ids in the addresses of web pages: `https://www.imdb.com/title/tt0013442/`,
    /// `https://www.themoviedb.org/movie/653-nosferatu`.
    private mutating func readAddresses(_ text: some StringProtocol) {
        for word in text.split(whereSeparator: \.isWhitespace) where word.contains("://") {
            hasAddress = true
            let parts = word.split(separator: "/").map { $0.lowercased() }
            for (place, part) in zip(parts, parts.dropFirst()) {
                let isNumber = { (text: Substring) in
                    (1...12).contains(text.count) && text.allSatisfy(\.isNumber)
                }
                switch place {
                case "title" where part.hasPrefix("tt") && isNumber(part.dropFirst(2)): ids["imdb"] = part
                case "movie":
                    let number = part.prefix(while: \.isNumber)
                    if isNumber(number), parts.contains(where: { $0.hasSuffix("themoviedb.org") }) {
                        ids["tmdb"] = String(number)
                    }
                default: break
                }
            }
        }
    }

    private mutating func read(_ root: XMLElement) {
        /// The texts of the elements with a name that are not empty.
        func texts(_ name: String) -> [String] {
            root.children.filter { $0.localName == name }.map(\.text.trimmed).filter { !$0.isEmpty }
        }
        values.set(.title, texts("title").first)
        values.set(.originalTitle, texts("originaltitle").first)
        let dates = texts("year") + texts("premiered") + texts("releasedate")
        let year = dates.lazy.compactMap { text -> Int? in
            let digits = text.prefix { $0.isASCII && $0.isNumber }
            return digits.count == 4 ? Int(digits) : nil
        }.first { $0 > 0 }
        values.set(.year, year)
        // Some programs write "94 min".
        values.set(.minutes, texts("runtime").first.flatMap { Int($0.prefix { $0.isASCII && $0.isNumber }) })
        /// Older programs write several names in one element, and some end each one with a comma.
        func names(_ element: String) -> [String] {
            texts(element).flatMap { $0.split(separator: " / ") }
                .map { String($0.hasSuffix(",") ? $0.dropLast() : $0).trimmed }
        }
        values.set(.director, line: names("director"))
        values.set(.country, line: names("country"))
        values.set(.genres, names("genre"))
        values.set(.overview, texts("plot").first ?? texts("outline").first)
        readRating(root)
        readIDs(root)
        let thumbs = root.children + (root.child("art")?.children ?? [])
        thumb = thumbs.first { element in
            switch element.localName {
            case "thumb": ["", "poster"].contains(element.attribute("aspect") ?? "")
            case "poster": true
            default: false
            }
        }.flatMap { $0.text.trimmed.isEmpty ? nil : $0.text.trimmed }
    }

    private mutating func readRating(_ root: XMLElement) {
        let all = root.child("ratings")?.children.filter { $0.localName == "rating" } ?? []
        let chosen = all.first { $0.attribute("default")?.lowercased() == "true" } ?? all.first
        let best = chosen?.attribute("max").flatMap(Self.number) ?? 10
        let written =
            chosen?.child("value")?.text ?? root.child("rating")?.text ?? root.child("communityrating")?.text
        guard let written, let value = Self.number(written), best > 0 else { return }
        let score = (value * 10 / best * 10).rounded() / 10
        // Programs write 0 for a film without a rating.
        guard score > 0 else { return }
        values.set(.score, score)
    }

    /// A number with a point or a comma.
    private static func number(_ text: String) -> Double? {
        Double(String(text.trimmed.map { $0 == "," ? "." : $0 })).flatMap { $0.isFinite ? $0 : nil }
    }

    private mutating func readIDs(_ root: XMLElement) {
        for element in root.children {
            let text = element.text.trimmed
            guard !text.isEmpty else { continue }
            switch element.localName {
            case "uniqueid":
                if let type = element.attribute("type"), !type.isEmpty { ids[type.lowercased()] = text }
            case "imdbid", "imdb_id", "imdb": ids["imdb"] = ids["imdb"] ?? text
            case "tmdbid", "tmdb": ids["tmdb"] = ids["tmdb"] ?? text
            case "id" where text.hasPrefix("tt"): ids["imdb"] = ids["imdb"] ?? text
            default: break
            }
        }
    }
}

/// What the name of a film's file or folder says: `Nosferatu (1922)`, `Nosferatu.1922.1080p.BluRay.x264-GROUP`.
struct FilmFileName {
    let title: String
    let year: Int?

    /// The years of films. A later number belongs to a title: "Blade Runner 2049".
    private static let years = 1880...2040

    /// - Parameter name: a name without its suffix.
    init(_ name: String) {
        let bytes = Array(name.utf8)
        func year(at index: Int) -> Int? {
            guard index + 4 <= bytes.count else { return nil }
            return Int(String(decoding: bytes[index..<index + 4], as: UTF8.self)).flatMap {
                Self.years.contains($0) ? $0 : nil
            }
        }
        func isSeparator(_ index: Int) -> Bool { index >= bytes.count || " ._-".utf8.contains(bytes[index]) }
        // In brackets, else the last one between separators. The first word is the title, whatever it is.
        let bracketed = bytes.indices.first { index in
            "([".utf8.contains(bytes[index]) && year(at: index + 1) != nil && index + 5 < bytes.count
                && ")]".utf8.contains(bytes[index + 5])
        }
        let plain = bytes.indices.dropFirst().last { index in
            isSeparator(index) && year(at: index + 1) != nil && isSeparator(index + 5)
        }
        for index in [bracketed, plain] {
            guard let index else { continue }
            let before = Self.spaced(String(decoding: bytes[..<index], as: UTF8.self))
            if !before.isEmpty {
                (title, self.year) = (before, year(at: index + 1))
                return
            }
        }
        let whole = Self.spaced(name)
        (title, self.year) = (whole.isEmpty ? name : whole, nil)
    }

    /// Dots and underscores stand for spaces, if there are none.
    private static func spaced(_ name: String) -> String {
        let text = name.contains(" ") ? name : String(name.map { "._".contains($0) ? " " : $0 })
        return String(text.trimmed.reversed().drop { " -".contains($0) }.reversed())
    }

    /// The name of a film in several files, without its number: `faust` for `faust-cd1`. Nil for a whole film.
    static func withoutPart(_ name: String) -> String? {
        let bytes = Array(name.lowercased().utf8)
        guard let last = bytes.last, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(last) else {
            return nil
        }
        func isSeparator(_ byte: UInt8) -> Bool { " ._-".utf8.contains(byte) }
        var rest = bytes.dropLast()
        while let last = rest.last, isSeparator(last) { rest.removeLast() }
        guard
            let word = ["cd", "dvd", "part", "pt", "disc", "disk"].first(where: {
                rest.reversed().starts(with: $0.utf8.reversed())
            })
        else { return nil }
        rest.removeLast(word.utf8.count)
        guard let separator = rest.last, isSeparator(separator) else { return nil }
        while let last = rest.last, isSeparator(last) { rest.removeLast() }
        // Lower case may have more or fewer bytes; then the name stays whole.
        guard !rest.isEmpty, bytes.count == name.utf8.count else { return nil }
        return String(decoding: Array(name.utf8)[..<rest.count], as: UTF8.self)
    }
}
