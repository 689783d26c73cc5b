import Films
import HTTPSemantics

/// Finds the films among the files of one folder, by their names. Pure: whoever has the folder reads the files of facts.
struct FolderFilms {
    /// The name of the folder in the library; empty for the library itself.
    let folder: String
    /// The folder's own name.
    private let ownName: String
    /// The names of its files, in order.
    private let files: [String]
    /// Whether the folder may be that of one film.
    private let isOfOne: Bool
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
    /// The folders of DVDs and Blu-rays, and the file that a player opens.
    private static let discs = ["VIDEO_TS": "VIDEO_TS.IFO", "BDMV": "index.bdmv"]
    /// Files of facts about something else, by their names.
    private static let otherFacts: Set = ["tvshow", "season", "artist", "album"]
    /// Folders with what belongs to films, and is none.
    private static let extras: Set = [
        "extras", "featurettes", "behind the scenes", "deleted scenes", "interviews", "trailers", "samples",
        "sample", "shorts", "subs", "subtitles",
    ]

    /// - Parameters:
    ///   - folders: the names of the folders in it.
    ///   - ownName: the folder's own name.
    init(folder: String, ownName: String, files: [String], folders: [String]) {
        // A copy of a disc is a folder that a player opens by one of its files.
        let discs = folders.compactMap { name in Self.discs[name.uppercased()].map { "\(name)/\($0)" } }
        isOfOne = !folder.isEmpty || folders.allSatisfy { Self.isExtra(folder: $0) }
        (self.folder, self.ownName, self.files) = (folder, ownName, files + (isOfOne ? discs : []))
        named = Dictionary(files.map { ($0.lowercased(), $0) }) { first, _ in first }
    }

    /// Whether a file is a film or the facts of one.
    static func isFilm(_ file: String) -> Bool { isVideo(file) || isFacts(file) }

    /// Whether a file may have the facts of a film.
    private static func isFacts(_ file: String) -> Bool {
        suffix(file) == "nfo" && !otherFacts.contains(stem(file).lowercased())
    }

    /// Whether a folder has what belongs to films, and is none.
    static func isExtra(folder: String) -> Bool {
        extras.contains(folder.lowercased()) || isDisc(folder: folder)
    }

    /// Whether a folder is the copy of a disc.
    static func isDisc(folder: String) -> Bool { discs[folder.uppercased()] != nil }

    /// Whether a file is a video that is no sample and no trailer.
    static func isVideo(_ file: String) -> Bool {
        if discs.values.contains(where: { file.hasSuffix("/" + $0) }) { return true }
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
            let isAlone = groups.count == 1 && isOfOne
            var (file, problem): (NFOFile?, CatalogueError?)
            if let name = self.facts(of: group, isAlone: isAlone) {
                let read = facts(name)
                file = read.file
                problem = read.problem.map { .unreadableFacts(file: address(name).path, reason: $0) }
            }
            return FolderFilm(
                folder: folder, name: group.stems[0], ownFolder: isAlone ? ownName : nil, facts: file,
                problem: problem,
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
            // The copy of a disc has the name of its folder.
            if video.contains("/") {
                groups.append(Group(video: video, stems: [ownName]))
                continue
            }
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
            var others = files.filter { Self.isFacts($0) && !stems.contains(Self.stem($0).lowercased()) }
            // The folder of one film, which is the library.
            if groups.count == 1, isOfOne { others.removeAll { $0.lowercased() == "movie.nfo" } }
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
        let all = files.filter(Self.isFacts)
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
        let names = (folder.isEmpty ? [] : [folder]) + file.split(separator: "/").map(String.init)
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

    /// - Parameter ownFolder: the name of the folder, if it has no other film.
    init(
        folder: String, name: String, ownFolder: String?, facts: NFOFile?, problem: CatalogueError?,
        media: String?, poster: String?
    ) {
        self.name = name
        self.problem = problem
        path = folder + "/" + name
        // A folder of its own often has the better name. The library's own folder has it only with a year.
        let names = [ownFolder, name].compactMap(\.self).map { FilmFileName($0) }
        let written = names.first { $0.year != nil } ?? names[folder.isEmpty ? names.count - 1 : 0]
        var values = facts?.values ?? MovieFields.Values()
        values.set(.id, "film")
        if values[.title] == nil { values.set(.title, written.title) }
        if values[.year] == nil { values.set(.year, written.year) }
        values.set(.poster, poster ?? facts?.thumb.flatMap(Self.remote))
        values.set(.media, media)
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
