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
/// Such files come from many programs. The address behind the XML may be missing, or be all there is. They are read as Kodi
/// reads them: what is wrong in one place spoils nothing else.
struct NFOFile {
    /// The members that the file has, without an id.
    private(set) var values = MovieFields.Values()
    /// The film's ids in databases, by their names.
    private(set) var ids: [String: String] = [:]
    /// The poster as written: an address, or a path on some machine.
    private(set) var thumb: String?
    /// The marks of whoever has written the file.
    private(set) var marks = FilmMarks()
    /// Whether there is an address of a web page outside the XML.
    private var hasAddress = false

    /// The most bytes of a file; an ordinary one has a few thousand.
    static let maximumBytes = 1 << 20
    /// The most elements: more would take longer than all other films of a folder.
    private static let maximumElements = 20_000

    /// - Parameter root: the name of the element with the facts. Default: that of a film.
    /// - Throws: why the file cannot be read. Its film is still a film, with the name of its file.
    init(_ bytes: [UInt8], root: String = "movie") throws(CatalogueError) {
        var (text, start, _) = try Document.text(bytes, limit: Self.maximumBytes)
        // Old programs write the encoding of Windows, and do not say so.
        if String(validating: text, as: UTF8.self) == nil {
            (text, start) = (XMLEncoding.windows1252(text[start...]), 0)
        }
        let (roots, outside) = try XMLReader.readLeniently(
            text[start...], maximumElements: Self.maximumElements)
        readAddresses(outside)
        if let facts = roots.first(where: { $0.localName == root }) {
            read(facts)
        } else if let other = roots.first {
            throw .wrongShape(expected: "<\(root)>, not <\(other.name)>", line: other.line)
        } else if !hasAddress {
            throw .unrecognized
        }
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
        values.set(.minutes, texts("runtime").lazy.compactMap(Self.minutes).first)
        /// Older programs write several names in one element, and some end each one with a comma.
        func names(_ element: String) -> [String] {
            texts(element).flatMap { $0.split(separator: " / ") }
                .map { String($0.hasSuffix(",") ? $0.dropLast() : $0).trimmed }
        }
        values.set(.director, line: names("director"))
        values.set(.country, line: names("country"))
        values.set(.genres, names("genre"))
        values.set(.overview, texts("plot").first ?? texts("outline").first)
        values.set(.tagline, texts("tagline").first)
        let actors = root.children.filter { $0.localName == "actor" }
        values.set(.cast, actors.compactMap { $0.child("name")?.text.trimmed }.filter { !$0.isEmpty })
        values.set(.collection, root.child("set").map { $0.child("name")?.text ?? $0.text }?.trimmed)
        values.set(.trailer, texts("trailer").first.flatMap(Self.trailer))
        readRating(root)
        readMarks(root)
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
        let isDefault = { (rating: XMLElement) in rating.attribute("default")?.lowercased() == "true" }
        let chosen = all.filter(isDefault) + all.filter { !isDefault($0) }
        let scores =
            chosen.map { ($0.child("value")?.text, $0.attribute("max").flatMap(Self.number) ?? 10) }
            + ["rating", "communityrating"].map { (root.child($0)?.text, 10) }
        // Programs write 0 for a film without a rating, and 87 of 10.
        values.set(
            .score,
            tenths: scores.lazy.compactMap { text, best in
                text.flatMap(Self.number).map { $0 * 10 / best }
            }.first { $0 > 0 && $0 <= 10 })
    }

    private mutating func readMarks(_ root: XMLElement) {
        func text(_ name: String) -> String { root.child(name)?.text.trimmed ?? "" }
        // `1601-01-01` is a day on which nothing was played.
        let lastYear = Int(text("lastplayed").prefix(4)) ?? 0
        if Self.number(text("playcount")) ?? 0 > 0 || text("watched").lowercased() == "true"
            || lastYear > 1900
        {
            marks[.seen] = 1
        }
        if let rating = Self.number(text("userrating")), (1...10).contains(rating) {
            marks[.rating] = Int(rating.rounded())
        }
    }

    /// The minutes of a running time: `94`, `94 min`, `1h 32m`, `1:32:00`, `PT92M`, `5520s`. Nil for any other text.
    static func minutes(_ text: String) -> Int? {
        let text = text.lowercased()
        if text.contains(":") {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map {
                Int(String($0).trimmed)
            }
            guard (2...3).contains(parts.count), let hours = parts[0], let minutes = parts[1] else {
                return nil
            }
            return hours * 60 + minutes
        }
        var rest = text.drop { $0.isWhitespace }
        if rest.hasPrefix("pt") { rest.removeFirst(2) }
        var seconds = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(digits.count).drop { $0.isWhitespace }
            let unit = rest.prefix(while: \.isLetter)
            rest = rest.dropFirst(unit.count).drop { !$0.isLetter && !$0.isNumber }
            guard let number = Double(digits),
                let length = ["h": 3600.0, "m": 60, "s": 1][unit.first ?? "m"]
            else { return nil }
            seconds += number * length
        }
        return seconds > 0 ? Int((seconds / 60).rounded()) : nil
    }

    /// The address of a trailer. Kodi names one of YouTube by its plugin.
    private static func trailer(_ text: String) -> String? {
        guard text.hasPrefix("plugin://plugin.video.youtube") else { return text }
        let words = text.replacing("video_id=", with: "videoid=").split(separator: "videoid=")
        guard words.count == 2 else { return nil }
        return "https://www.youtube.com/watch?v=" + words[1].prefix { $0 != "&" }
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
            // `2013-12-09` is a date.
            let day = bytes.dropFirst(index + 6).prefix(5)
            let isDate = day.count == 5 && day.count(where: \.isDigit) == 4 && isSeparator(index + 8)
            return isSeparator(index) && year(at: index + 1) != nil && isSeparator(index + 5) && !isDate
        }
        for index in [bracketed, plain] {
            guard let index else { continue }
            let before = Self.spaced(
                FolderNames.withoutTags(String(decoding: bytes[..<index], as: UTF8.self)))
            if !before.isEmpty {
                (title, self.year) = (before, year(at: index + 1))
                return
            }
        }
        let whole = Self.spaced(FolderNames.withoutTags(name))
        (title, self.year) = (whole.isEmpty ? name : whole, nil)
    }

    /// Dots and underscores stand for spaces, if there are none.
    private static func spaced(_ name: String) -> String {
        let text = name.contains(" ") ? name : String(name.map { "._".contains($0) ? " " : $0 })
        return String(text.trimmed.reversed().drop { " -".contains($0) }.reversed())
    }

    /// The name of a film in several files, without its number or its letter from a to d: `faust` for `faust-cd1` and
    /// `faust (part b)`. Nil for a whole film.
    static func withoutPart(_ name: String) -> String? {
        let bytes = Array(name.lowercased().utf8)
        func isSeparator(_ byte: UInt8) -> Bool { " ._-".utf8.contains(byte) }
        var rest = bytes[...]
        if let last = rest.last, ")]".utf8.contains(last) { rest.removeLast() }
        guard let last = rest.last, last.isDigit || "abcd".utf8.contains(last) else { return nil }
        repeat { rest.removeLast() } while last.isDigit && rest.last?.isDigit == true
        while let last = rest.last, isSeparator(last) { rest.removeLast() }
        guard
            let word = ["cd", "dvd", "part", "pt", "disc", "disk"].first(where: {
                rest.reversed().starts(with: $0.utf8.reversed())
            })
        else { return nil }
        rest.removeLast(word.utf8.count)
        if let last = rest.last, "([".utf8.contains(last) { rest.removeLast() }
        guard let separator = rest.last, isSeparator(separator) || ")]}".utf8.contains(separator) else {
            return nil
        }
        while let last = rest.last, isSeparator(last) { rest.removeLast() }
        // Lower case may have more or fewer bytes; then the name stays whole.
        guard !rest.isEmpty, bytes.count == name.utf8.count else { return nil }
        return String(decoding: Array(name.utf8)[..<rest.count], as: UTF8.self)
    }
}
