import HTTPSemantics

/// Finds the films among the files of one folder, by their names. Pure: whoever has the folder reads the files of facts.
struct FolderFilms {
    /// The name of the folder in the library; empty for the library itself.
    let folder: String
    /// The names of its files, in order.
    let files: [String]
    /// The files by their names in lower case.
    private let named: [String: String]

    /// The suffixes of videos.
    private static let videos: Set = [
        "mkv", "mp4", "m4v", "avi", "mov", "wmv", "mpg", "mpeg", "ts", "m2ts", "webm", "ogv", "flv", "iso",
        "vob", "3gp", "divx",
    ]
    /// The suffixes of pictures, the best first.
    private static let pictures = ["jpg", "jpeg", "png", "webp", "tbn"]
    /// The names of posters, the best first.
    private static let posters = ["poster", "folder", "cover", "default", "movie"]
    /// Folders with what belongs to films, and is none.
    private static let extras: Set = [
        "extras", "featurettes", "behind the scenes", "deleted scenes", "interviews", "trailers", "samples",
        "sample", "shorts", "subs", "subtitles",
    ]

    init(folder: String, files: [String]) {
        (self.folder, self.files) = (folder, files)
        named = Dictionary(files.map { ($0.lowercased(), $0) }) { first, _ in first }
    }

    /// Whether a file is a film or the facts of one.
    static func isFilm(_ file: String) -> Bool { isVideo(file) || suffix(file) == "nfo" }

    /// Whether a folder has what belongs to films, and is none.
    static func isExtra(folder: String) -> Bool { extras.contains(folder.lowercased()) }

    /// Whether a file is a video that is no sample and no trailer.
    static func isVideo(_ file: String) -> Bool {
        guard videos.contains(suffix(file)) else { return false }
        let stem = stem(file).lowercased()
        return stem != "sample" && stem != "trailer"
            && !["-sample", "-trailer", ".sample", "_trailer"].contains {
                stem.hasSuffix($0)
            }
    }

    private static func suffix(_ file: String) -> String {
        file.lastIndex(of: ".").map { file[file.index(after: $0)...].lowercased() } ?? ""
    }

    private static func stem(_ file: String) -> String {
        file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    }

    /// A video, or the files of one film in several parts.
    private struct Group {
        /// The first part; nil for a film without a video.
        var video: String?
        /// The names that other files of the film may begin with.
        var stems: [String]
    }

    /// The films of the folder.
    /// - Parameter facts: reads a file of facts, or says why it cannot be read.
    func films(_ facts: (String) -> (file: NFOFile?, problem: String?)) -> [FolderFilm] {
        let groups = groups
        return groups.map { group in
            let isAlone = groups.count == 1 && !folder.isEmpty
            var (file, problem): (NFOFile?, CatalogueError?)
            if let name = self.facts(of: group, isAlone: isAlone) {
                let read = facts(name)
                file = read.file
                problem = read.problem.map { .unreadableFacts(file: address(name).path, reason: $0) }
            }
            return FolderFilm(
                folder: folder, name: group.stems[0], isAlone: isAlone, facts: file, problem: problem,
                media: group.video.map { address($0).text },
                poster: poster(of: group, isAlone: isAlone).map { address($0).text })
        }
    }

    private var groups: [Group] {
        let videos = files.filter(Self.isVideo)
        var groups: [Group] = []
        var byBase: [String: Int] = [:]
        for video in videos {
            let stem = Self.stem(video)
            guard let base = FilmFileName.withoutPart(stem) else {
                groups.append(Group(video: video, stems: [stem]))
                continue
            }
            if let index = byBase[base.lowercased()] {
                groups[index].stems.append(stem)
            } else {
                byBase[base.lowercased()] = groups.count
                groups.append(Group(video: video, stems: [base, stem]))
            }
        }
        // Facts without a video: a film on a shelf, or on a disk that is not there now.
        if videos.isEmpty || folder.isEmpty {
            let stems = Set(groups.flatMap(\.stems).map { $0.lowercased() })
            let others = files.filter {
                Self.suffix($0) == "nfo" && !stems.contains(Self.stem($0).lowercased())
            }
            if !folder.isEmpty,
                let only = others.first(where: { $0.lowercased() == "movie.nfo" }) ?? others.first
            {
                groups.append(Group(stems: [Self.stem(only)]))
            } else {
                groups += others.map { Group(stems: [Self.stem($0)]) }
            }
        }
        return groups
    }

    private func facts(of group: Group, isAlone: Bool) -> String? {
        for stem in group.stems { if let own = named[stem.lowercased() + ".nfo"] { return own } }
        guard isAlone else { return nil }
        let all = files.filter { Self.suffix($0) == "nfo" }
        return named["movie.nfo"] ?? (all.count == 1 ? all[0] : nil)
    }

    /// The film's picture: one with the video's name, then one with the name of a poster behind it, then, in a folder of
    /// its own, one with the name of a poster.
    private func poster(of group: Group, isAlone: Bool) -> String? {
        let names =
            group.stems + group.stems.flatMap { stem in Self.posters.map { "\(stem)-\($0)" } }
            + (isAlone ? Self.posters : [])
        for name in names {
            for suffix in Self.pictures {
                if let found = named["\(name.lowercased()).\(suffix)"] { return found }
            }
        }
        return nil
    }

    /// The address of a file, relative to the library.
    private func address(_ file: String) -> (text: String, path: String) {
        let names = folder.isEmpty ? [file] : [folder, file]
        return (
            names.map { PercentEncoding.encoded($0) }.joined(separator: "/"),
            names.joined(separator: "/")
        )
    }
}

/// A film of a folder.
struct FolderFilm: Sendable {
    /// The name by which it stands among the others: its folder's, or its file's.
    let name: String
    /// Why its facts cannot be read; it has the name of its file then.
    let problem: CatalogueError?
    private let path: String
    private let movie: Movie
    private let ids: [String: String]

    init(
        folder: String, name: String, isAlone: Bool, facts: NFOFile?, problem: CatalogueError?,
        media: String?,
        poster: String?
    ) {
        self.name = name
        self.problem = problem
        path = folder + "/" + name
        // A folder of its own often has the better name.
        let names = (isAlone ? [folder, name] : [name]).map { FilmFileName($0) }
        let written = names.first { $0.year != nil } ?? names[names.count - 1]
        var values: [(FilmMember, FilmMember.Value?)] = [
            (.id, .text("film")), (.title, .text(written.title)), (.year, written.year.map { .whole($0) }),
            (.poster, (poster ?? facts?.thumb.flatMap(Self.remote)).map { .text($0) }),
            (.media, media.map { .text($0) }),
        ]
        values += (facts?.values ?? []).filter { $0.1 != nil && $0.1 != .texts([]) }
        ids = facts?.ids ?? [:]
        // Ignored: such a film has an id and a title, which is all that a film needs.
        movie = (try? SourceFilm(values, position: 1).movie) ?? Movie(id: "film", title: written.title)
    }

    /// An address on the network. A path on the machine that wrote the facts says nothing here.
    private static func remote(_ thumb: String) -> String? {
        thumb.hasPrefix("https://") || thumb.hasPrefix("http://") ? thumb : nil
    }

    /// The film with an id that none before it has: from title and year, else from its path too.
    func film(notIn taken: inout Set<String>) -> SourceFilm {
        var movie = movie
        movie.id = FilmID.make(title: movie.title, year: movie.year)
        if !taken.insert(movie.id).inserted {
            movie.id = FilmID.make(title: movie.title, year: movie.year, from: path)
            taken.insert(movie.id)
        }
        return SourceFilm(movie, ids: ids)
    }
}
