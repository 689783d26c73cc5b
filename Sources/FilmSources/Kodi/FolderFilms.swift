import Films
import HTTPSemantics

/// Finds the films among the files of one folder, by their names. Pure: whoever has the folder reads the files of facts.
struct FolderFilms {
    /// The path of the folder in the library; empty for the library itself.
    let folder: String
    /// The folder's own name.
    private let ownName: String
    /// The names of its files, in order.
    private let files: [String]
    /// Whether the folder may be that of one film.
    private let isOfOne: Bool
    /// The files by their names in lower case.
    private let named: [String: String]
    private let hasPictures: Bool

    /// Reads a file of facts, or the address in a `.strm` file, by the file's path in the library.
    struct Reader {
        /// The element with the facts, and the file; or why it cannot be read.
        let facts: (_ root: String, _ path: String) -> (file: NFOFile?, problem: String?)
        /// Nil for a file that has none.
        let address: (_ path: String) -> String?
    }

    /// - Parameters:
    ///   - folders: the names of the folders in it.
    ///   - ownName: the folder's own name.
    init(folder: String, ownName: String, files: [String], folders: [String]) {
        // A copy of a disc is a folder that a player opens by one of its files.
        let discs = folders.compactMap { name in
            FolderNames.discs[name.uppercased()].map { "\(name)/\($0)" }
        }
        let isOfOne =
            !folder.isEmpty || folders.allSatisfy { FolderNames.isSkipped(folder: $0, isTop: false) }
        (self.isOfOne, self.folder, self.ownName, self.files) = (
            isOfOne, folder, ownName, files + (isOfOne ? discs : [])
        )
        named = Dictionary(files.map { ($0.lowercased(), $0) }) { first, _ in first }
        hasPictures = files.contains { FolderNames.pictures.contains(FolderNames.suffix($0)) }
    }

    /// A video, the files of one film in several parts, or the versions of one film.
    private struct Group {
        /// The first part; nil for a film without a video.
        var video: String?
        /// The names that other files of the film may begin with.
        var stems: [String]
        /// The versions, the best first; empty for a film with one.
        var versions: [(label: String, video: String)] = []
    }

    /// The films of the folder, and the pictures that belong to none of them.
    func films(_ reader: Reader) -> (films: [FolderFilm], pictures: [FolderFilm]) {
        let groups = groups
        let films = groups.map { group in
            let isAlone = groups.count == 1 && isOfOne
            var (file, problem): (NFOFile?, CatalogueError?)
            if let name = facts(of: group, isAlone: isAlone) {
                (file, problem) = facts("movie", name, reader)
            }
            return FolderFilm(
                folder: folder, name: group.stems[0], ownFolder: isAlone ? ownName : nil, facts: file,
                problem: problem, media: group.video.map { media($0, reader) },
                poster: poster(of: group.stems, isAlone: isAlone).map { address($0) },
                parts: group.versions.map {
                    FilmPart(title: $0.label.isEmpty ? "usual" : $0.label, media: media($0.video, reader))
                })
        }
        // The pictures of a phone's folder stand beside its films. A film's own folder has artwork.
        let isMixed = groups.contains { $0.video != nil } && (groups.count > 1 || folder.isEmpty)
        return (films, isMixed ? pictures(beside: groups) : [])
    }

    private func pictures(beside groups: [Group]) -> [FolderFilm] {
        let stems = Set(groups.flatMap(\.stems).map { $0.lowercased() })
        return files.filter { file in
            FolderNames.pictures.contains(FolderNames.suffix(file)) && !FolderNames.isArtwork(file)
                && !stems.contains(FolderNames.stem(file).lowercased())
        }.map { FolderFilm(picture: $0, in: folder, address: address($0)) }
    }

    /// The series of the folder.
    /// - Parameter seasons: the files of each folder with episodes, by its path in the library, and its season.
    func series(_ seasons: [(folder: String, number: Int?, files: [String])], _ reader: Reader) -> FolderFilm
    {
        var (file, problem): (NFOFile?, CatalogueError?)
        if let name = named["tvshow.nfo"] { (file, problem) = facts("tvshow", name, reader) }
        let episodes = seasons.flatMap { season in
            season.files.filter(FolderNames.isVideo).map { video -> FilmPart in
                let stem = FolderNames.stem(video)
                let own =
                    season.files.contains(stem + ".nfo")
                    ? reader.facts("episodedetails", Self.path(stem + ".nfo", in: season.folder)).file : nil
                let read = FolderNames.episode(
                    stem.hasPrefix(ownName) ? String(stem.dropFirst(ownName.count)) : stem)
                var title = read?.title ?? stem
                if case .text(let text) = own?.values[.title] { title = text }
                return FilmPart(
                    season: read?.season ?? season.number ?? 1, number: read?.number, title: title,
                    media: media(video, in: season.folder, reader), isSeen: own?.marks.isSeen ?? false)
            }
        }.sorted { one, other in
            // Specials come last.
            func key(_ part: FilmPart) -> (Int, Int) {
                (part.season == 0 ? .max : part.season ?? 1, part.number ?? .max)
            }
            return key(one) == key(other) ? one.media < other.media : key(one) < key(other)
        }
        return FolderFilm(
            folder: folder, name: ownName, ownFolder: ownName, facts: file, problem: problem,
            media: episodes.first?.media,
            poster: poster(of: [], isAlone: true).map { address($0) }, parts: episodes)
    }

    private func facts(
        _ root: String, _ name: String, _ reader: Reader
    ) -> (NFOFile?, CatalogueError?) {
        let read = reader.facts(root, Self.path(name, in: folder))
        return (
            read.file, read.problem.map { .unreadableFacts(file: Self.path(name, in: folder), reason: $0) }
        )
    }

    private var groups: [Group] {
        let videos = files.filter(FolderNames.isVideo)
        var groups: [Group] = []
        var byBase: [String: Int] = [:]
        for video in videos {
            let stem = FolderNames.stem(video)
            // The copy of a disc has the name of its folder.
            if video.contains("/") {
                groups.append(Group(video: video, stems: [ownName]))
                continue
            }
            guard let base = FilmFileName.withoutPart(stem) else {
                groups.append(Group(video: video, stems: [stem]))
                continue
            }
            // Numbers and letters are not mixed.
            let isNumbered = stem.last { $0.isLetter || $0.isNumber }?.isNumber == true
            let key = "\(base.lowercased()) \(isNumbered)"
            if let index = byBase[key] {
                groups[index].stems.append(stem)
            } else {
                byBase[key] = groups.count
                groups.append(Group(video: video, stems: [base, stem]))
            }
        }
        // A single part is a film of its own: "Kill Bill Part 2".
        for index in groups.indices where groups[index].stems.count == 2 { groups[index].stems.removeFirst() }
        // Facts without a video: a film on a shelf, or on a disk that is not there now.
        if videos.isEmpty || folder.isEmpty {
            let stems = Set(groups.flatMap(\.stems).map { $0.lowercased() })
            var others = files.filter {
                FolderNames.isFacts($0) && !stems.contains(FolderNames.stem($0).lowercased())
            }
            // The folder of one film, which is the library.
            if groups.count == 1, isOfOne { others.removeAll { $0.lowercased() == "movie.nfo" } }
            if !folder.isEmpty,
                let only = others.first(where: { $0.lowercased() == "movie.nfo" }) ?? others.first
            {
                groups.append(Group(stems: [FolderNames.stem(only)]))
            } else {
                groups += others.map { Group(stems: [FolderNames.stem($0)]) }
            }
        }
        return versions(of: groups).map { [$0] } ?? groups
    }

    /// The one film whose versions all videos are; nil if they are films of their own.
    private func versions(of groups: [Group]) -> Group? {
        guard !folder.isEmpty, groups.count > 1 else { return nil }
        let versions = groups.compactMap { group in
            group.video.flatMap { video in
                FolderNames.version(group.stems[0], in: ownName).map { (label: $0, video: video) }
            }
        }
        let years = Set(groups.compactMap { FilmFileName($0.stems[0]).year })
        guard versions.count == groups.count, years.count <= 1 else { return nil }
        let sorted = versions.sorted { one, other in
            let lines = (FolderNames.lines(ofVersion: one.label), FolderNames.lines(ofVersion: other.label))
            return lines.0 == lines.1 ? one.label < other.label : lines.0 > lines.1
        }
        let main = sorted.first { $0.label.isEmpty } ?? sorted[0]
        return Group(video: main.video, stems: [ownName] + groups.flatMap(\.stems), versions: sorted)
    }

    private func facts(of group: Group, isAlone: Bool) -> String? {
        for stem in group.stems { if let own = named[stem.lowercased() + ".nfo"] { return own } }
        guard isAlone else { return nil }
        let all = files.filter(FolderNames.isFacts)
        return named["movie.nfo"] ?? (all.count == 1 ? all[0] : nil)
    }

    /// The film's picture: one with the video's name, then one with the name of a poster behind it, then, in a folder of
    /// its own, one with the name of a poster.
    private func poster(of stems: [String], isAlone: Bool) -> String? {
        guard hasPictures else { return nil }
        let posters = FolderNames.posters
        let stems = stems + (isAlone ? ["movie"] : [])
        let names =
            stems + stems.flatMap { stem in posters.map { "\(stem)-\($0)" } } + (isAlone ? posters : [])
        for name in names.lazy.map({ $0.lowercased() }) {
            for suffix in FolderNames.pictures {
                if let found = named["\(name).\(suffix)"] { return found }
            }
        }
        return nil
    }

    /// The address of a video, or the one in its `.strm` file.
    private func media(_ file: String, in folder: String? = nil, _ reader: Reader) -> String {
        let folder = folder ?? self.folder
        let path = Self.path(file, in: folder)
        if FolderNames.suffix(file) == "strm", let address = reader.address(path) { return address }
        return Self.address(path)
    }

    /// The address of a file of the folder.
    private func address(_ file: String) -> String { Self.address(Self.path(file, in: folder)) }

    private static func path(_ file: String, in folder: String) -> String {
        folder.isEmpty ? file : folder + "/" + file
    }

    /// The address of a path in the library, relative to the library.
    private static func address(_ path: String) -> String {
        path.split(separator: "/").map { PercentEncoding.encoded(String($0)) }.joined(separator: "/")
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
    private let marks: FilmMarks

    /// - Parameter ownFolder: the name of the folder, if it has no other film.
    init(
        folder: String, name: String, ownFolder: String?, facts: NFOFile?, problem: CatalogueError?,
        media: String?, poster: String?, parts: [FilmPart] = []
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
        (ids, marks) = (facts?.ids ?? [:], facts?.marks ?? FilmMarks())
        // Ignored: such a film has an id and a title, which is all that a film needs.
        var movie = (try? SourceFilm(values, position: 1).movie) ?? Movie(id: "film", title: written.title)
        movie.parts = parts
        movie.id = FilmID.make(title: movie.title, year: movie.year)
        self.movie = movie
    }

    /// A picture, which is its own poster.
    init(picture file: String, in folder: String, address: String) {
        (name, problem, path, ids, marks) = (file, nil, folder + "/" + file, [:], FilmMarks())
        let title = FolderNames.stem(file)
        var movie = Movie(id: FilmID.make(title: title, year: nil), title: title)
        movie[.poster] = .text(address)
        movie[.genres] = .texts(["Pictures"])
        self.movie = movie
    }

    /// An address on the network. A path on the machine that wrote the facts says nothing here.
    private static func remote(_ thumb: String) -> String? {
        thumb.hasPrefix("https://") || thumb.hasPrefix("http://") ? thumb : nil
    }

    /// The film with an id that none before it has: from title and year, else from its path too.
    func film(notIn taken: inout Set<String>) -> SourceFilm {
        var movie = movie
        if !taken.insert(movie.id).inserted {
            movie.id = FilmID.make(title: movie.title, year: movie.year, from: path)
            taken.insert(movie.id)
        }
        return SourceFilm(movie, ids: ids, marks: marks)
    }
}
