import Films

/// What the names of files and folders mean: as Jellyfin reads them (Emby.Naming, `NamingOptions.cs`, `TV/`, and
/// `IgnorePatterns.cs`), and Kodi where Jellyfin says nothing.
enum FolderNames {
    /// The suffixes of videos. A `.strm` file has the address of one.
    private static let videos = Set(
        """
        001 3g2 3gp amv asf asx avi bin bivx divx dv dvr-ms f4v fli flv ifo img iso m2t m2ts m2v m4v mkv mk3d mov mp4 \
        mpe mpeg mpg mts mxf nrg nsv nuv ogm ogv pva qt rec rm rmvb strm svq3 tp ts ty viv vob vp3 webm wmv wtv xvid
        """.split(separator: " "))
    /// The suffixes of pictures, the best first.
    static let pictures = ["jpg", "jpeg", "png", "webp", "tbn"]
    /// The names of posters, the best first.
    static let posters = ["poster", "folder", "cover", "default", "movie", "show"]
    /// The names of other artwork.
    private static let artwork: Set = [
        "fanart", "backdrop", "background", "art", "logo", "clearlogo", "clearart", "disc", "discart",
        "cdart",
        "banner", "landscape", "thumb", "keyart", "small", "albumart",
    ]
    /// The folders of DVDs and Blu-rays, and the file that a player opens.
    static let discs = ["VIDEO_TS": "VIDEO_TS.IFO", "BDMV": "index.bdmv"]
    /// Files of facts about something else, by their names.
    private static let otherFacts: Set = ["tvshow", "season", "artist", "album"]
    /// Folders with what belongs to the films of the folder around them.
    private static let extras: Set = [
        "extras", "extra", "featurettes", "behind the scenes", "deleted scenes", "interviews", "trailers",
        "samples", "scenes", "shorts", "other", "clips", "backdrops", "theme-music",
    ]
    /// Folders of systems and programs, and files that belong to films, wherever they are.
    private static let ignored: Set = [
        "sample", "subs", "subtitles", "proof", "metadata", "ps3_update", "ps3_vprm", "extrafanart",
        "extrathumbs", "lost+found", "eadir", "@eadir", "#recycle", "@recycle", "$recycle.bin",
        "system volume information", "temprec", "tempsbe", "snapshots",
    ]
    /// The words before or after a season's number.
    private static let seasons: Set = [
        "season", "series", "saison", "staffel", "stagione", "temporada", "sezon", "seizoen", "kausi",
        "säsong",
        "sæson", "sesong",
    ]

    /// The suffix in lower case; empty without one.
    static func suffix(_ file: String) -> String {
        file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() } ?? ""
    }

    /// The name without its suffix.
    static func stem(_ file: String) -> String {
        file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    }

    /// Whether a file is a film or the facts of one.
    static func isFilm(_ file: String) -> Bool { isVideo(file) || isFacts(file) }

    /// Whether a file may have the facts of a film.
    static func isFacts(_ file: String) -> Bool {
        suffix(file) == "nfo" && !otherFacts.contains(stem(file).lowercased())
    }

    /// Whether a file is a video that is no sample, no trailer and no other extra.
    static func isVideo(_ file: String) -> Bool {
        if discs.values.contains(where: { file.hasSuffix("/" + $0) }) { return true }
        return videos.contains(suffix(file)[...]) && !isExtra(file: stem(file).lowercased())
    }

    /// - Parameter name: without its suffix, in lower case.
    private static func isExtra(file name: String) -> Bool {
        if name.hasPrefix("sample.") || name.contains(".sample.") { return true }
        let name = String(name.reversed().drop { $0.isNumber || $0 == " " }.reversed())
        if ["trailer", "sample", "theme"].contains(name) { return true }
        let isMarked = ["trailer", "sample"].contains { word in
            ["-", ".", "_", "- "].contains { name.hasSuffix($0 + word) }
        }
        return isMarked
            || [
                "scene", "clip", "interview", "behindthescenes", "deleted", "deletedscene", "featurette",
                "short",
                "extra", "other",
            ].contains { name.hasSuffix("-" + $0) }
    }

    /// Whether a folder has no films of its own.
    /// - Parameter isTop: whether it is in the library itself, where `Shorts` is a folder of films.
    static func isSkipped(folder: String, isTop: Bool) -> Bool {
        let name = folder.lowercased()
        return ignored.contains(name) || name.hasSuffix(".trickplay") || isDisc(folder: folder)
            || !isTop && extras.contains(name)
    }

    /// Whether a folder is the copy of a disc.
    static func isDisc(folder: String) -> Bool { discs[folder.uppercased()] != nil }

    /// Whether a picture is artwork by its name: `poster.jpg`, `fanart2.jpg`, `season01-poster.jpg`, `Faust-logo.png`.
    static func isArtwork(_ file: String) -> Bool {
        let words = stem(file).lowercased().split(separator: "-")
        let last = words.last.map { String($0.reversed().drop(while: \.isNumber).reversed()) } ?? ""
        return posters.contains(last) || artwork.contains(last)
    }

    /// The number of the season in a folder; nil for a folder of something else.
    static func season(folder: String) -> Int? {
        let words = folder.lowercased().split { " ._-[]".contains($0) }
        if words.first == "specials" { return 0 }
        if words.count > 1 {
            for (word, number) in [(words[0], words[1]), (words[1], words[0])] {
                if seasons.contains(String(word)), let number = Int(number) { return season(number) }
            }
        }
        // `S04` anywhere, and `Season7` alone.
        for word in words {
            let letters = word.prefix { !$0.isNumber }
            if letters == "s" || words.count == 1 && seasons.contains(String(letters)),
                let number = Int(word.dropFirst(letters.count))
            {
                return season(number)
            }
        }
        return nil
    }

    /// A number between is the year of a film: "Season 1922".
    static func season(_ number: Int) -> Int? {
        (0..<200).contains(number) || (1928...2500).contains(number) ? number : nil
    }

    /// The season, the number and the title of an episode: `Show S01E02 - The Title`, `1x02`, `Episode 16`, `03 - Title`,
    /// `[group] Show - 136 [720p]`. Nil for a name of another kind.
    static func episode(_ name: String) -> (season: Int?, number: Int, title: String)? {
        let bytes = Array(name.lowercased().utf8)
        func digits(at start: Int, most: Int) -> (value: Int, end: Int)? {
            let run = bytes[start...].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            guard !run.isEmpty, run.count <= most else { return nil }
            return Int(String(decoding: run, as: UTF8.self)).map { ($0, run.endIndex) }
        }
        func separators(at start: Int) -> Int {
            bytes[start...].firstIndex { !" ._-".utf8.contains($0) } ?? bytes.count
        }
        func isStart(_ index: Int) -> Bool {
            index == 0 || !(bytes[index - 1].isLetter || bytes[index - 1].isDigit)
        }
        func word(_ text: String, at index: Int) -> Int? {
            bytes[index...].starts(with: text.utf8) ? index + text.utf8.count : nil
        }
        /// The number of an episode, which `e`, `ep` or `episode` precedes.
        func marked(at index: Int) -> (value: Int, end: Int)? {
            for text in ["episode", "ep", "e"] {
                if let end = word(text, at: index), let number = digits(at: separators(at: end), most: 4) {
                    return number
                }
            }
            return nil
        }
        /// The same behind a season and an `x`.
        func crossed(at index: Int) -> (value: Int, end: Int)? {
            word("x", at: index).flatMap { marked(at: $0) ?? digits(at: $0, most: 3) }
        }
        func found(_ season: Int?, _ number: (value: Int, end: Int)) -> (Int?, Int, String) {
            var end = number.end
            // Several episodes in one file have the number of the first.
            while let more = marked(at: separators(at: end)) ?? crossed(at: separators(at: end)) {
                end = more.end
            }
            let rest = String(decoding: Array(name.utf8)[min(end, name.utf8.count)...], as: UTF8.self)
            let title = FilmFileName(withoutTags(String(rest.drop { " ._-".contains($0) }))).title
            return (season, number.value, title.isEmpty ? "Episode \(number.value)" : title)
        }
        for index in bytes.indices where isStart(index) {
            if let end = word("s", at: index), let season = digits(at: end, most: 4),
                let number = marked(at: separators(at: season.end)) ?? crossed(at: season.end)
            {
                return found(season.value, number)
            }
            // Not `1920x1080`.
            if let season = digits(at: index, most: 4), Self.season(season.value) != nil,
                let number = crossed(at: season.end)
            {
                return found(season.value, number)
            }
        }
        for index in bytes.indices where isStart(index) {
            if let number = marked(at: index) { return found(nil, number) }
        }
        if let number = digits(at: 0, most: 3) { return found(nil, number) }
        // The last word, else a number alone in brackets; not a year.
        let last = name.replacing(/\[[^\]]*\]/, with: " ").split { " ._-".contains($0) }.last
        let numbers = [last].compactMap(\.self) + name.matches(of: /\[(\d+)\]/).map(\.1)
        let number = numbers.compactMap { $0.count > 4 ? nil : Int($0) }.first { !(1900...2099).contains($0) }
        return number.map { (nil, $0, "Episode \($0)") }
    }

    /// The words that programs which copy films put behind a title.
    private static let tags = Set(
        """
        480p 576p 720p 1080p 1080i 2160p 4k uhd ultrahd hdr hdc x264 x265 h264 h265 hevc bluray brrip bdrip webrip \
        dvdrip hdtv remux repack unrated multi
        """.split(separator: " "))

    /// A name up to its first tag, or to its first brackets, without those that it begins with: `Metropolis` of
    /// `[group] Metropolis [Berlin].1080p.BluRay`.
    static func withoutTags(_ name: String) -> String {
        let inner = name.hasPrefix("[") ? name.drop { $0 != "]" }.dropFirst() : name[...]
        let whole = inner.contains(where: \.isLetter) ? inner : name[...]
        let words = whole.split { " ._-[]()".contains($0) }
        let tag = words.indices.first { index in
            let word = words[index].lowercased()
            return tags.contains(word[...])
                || word == "web" && index + 1 < words.count && words[index + 1].lowercased() == "dl"
        }
        let title = tag.map { whole[..<words[$0].startIndex] } ?? whole
        return String(title.first == "[" ? title : title.prefix { $0 != "[" })
    }

    /// The label of a version of a film: `4K` of `Faust (1926) - 4K.mkv` in the folder `Faust (1926)`; empty for the film
    /// itself. Nil for another film.
    static func version(_ name: String, in folder: String) -> String? {
        guard name.lowercased().hasPrefix(folder.lowercased()) else { return nil }
        let rest = name.dropFirst(folder.count).drop(while: \.isWhitespace)
        guard let first = rest.first else { return "" }
        guard "-_.[{".contains(first), rest.contains("[") == rest.contains("]") else { return nil }
        let label = rest.replacing("{edition-", with: "").filter { !"[]{}".contains($0) }
            .drop { " -_.".contains($0) }
        return String(label.reversed().drop { " -_.".contains($0) }.reversed())
    }

    /// The lines of a version's picture, from `1080p`, or 2160 for `4K`; 0 if it does not say.
    static func lines(ofVersion label: String) -> Int {
        let words = label.lowercased().split { !$0.isLetter && !$0.isNumber }
        if words.contains("4k") || words.contains("uhd") { return 2160 }
        return words.compactMap { word in
            "pi".contains(word.last ?? " ") && word.count > 3 ? Int(word.dropLast()) : nil
        }.max() ?? 0
    }
}
