import FilmSources
import Films
import FoundationEssentials
import LazyImages
import SystemSupport

/// `marquee import CATALOGUE LIBRARY.db`: copies films into a library, in one transaction.
enum ImportCommand: Command {
    static let specification = CommandSpecification(
        name: "import", operands: "CATALOGUE LIBRARY.db", operandCount: 2...2,
        summary: "copy a catalogue's films into a library, which is made if needed",
        examples: [
            ("marquee import films.json films.db", "from a file in JSON, XML or CSV, or a feed"),
            ("marquee import http://nas:8080/films films.db", "from a server"),
            ("marquee import more.db films.db --skip", "only the films that this library lacks"),
            ("marquee import ~/Films films.db", "from a folder of films, with their .nfo files"),
            ("marquee import ratings.csv films.db --join ~/Films", "from Letterboxd or IMDb, with posters"),
            ("marquee list --catalogue films.db", "list the library's films"),
        ],
        options: [
            Option(
                name: "replace",
                help: "replace films of the same id (default: import nothing then)"),
            Option(name: "skip", help: "leave out films whose id is in the library"),
            Option(
                name: "join", value: "CATALOGUE",
                help:
                    "fill what the films lack from this one: by their ids in databases, else by title and year"
            ),
            Option(name: "dry-run", help: "only say what would be imported"),
        ])

    /// Ends the transaction of a rehearsal, which undoes it.
    private struct Rehearsal: Error {
        let report: FilmImporter.Report
    }

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        guard !(arguments.has("replace") && arguments.has("skip")) else {
            throw UsageError("--replace and --skip exclude each other")
        }
        let (name, path) = (arguments.operands[0], arguments.operands[1])
        try CommandLineWords.requireUTF8(path)
        if let file = FilmProviders.provider(named: name).abilities.file, let number = FileNumber(path),
            FileNumber(file) == number
        {
            throw Failure("\(path): this is \(file) itself; name another library")
        }
        // A log without its library is another library's.
        let isNew = ["", "-wal"].allSatisfy { !FileManager.default.fileExists(atPath: path + $0) }
        let films = try await ImportedFilms(name, session)
        let join: FilmJoin? =
            if let other = arguments.value("join") { try await ImportedFilms(other, session).join } else {
                nil
            }
        let policy: FilmImporter.Policy =
            arguments.has("replace") ? .replace : arguments.has("skip") ? .skip : .refuse
        let isRehearsal = arguments.has("dry-run")
        var report: FilmImporter.Report
        do {
            report = try await LibraryWork.run("importing", total: films.count, session.output) { progress in
                let library = try FilmLibrary(path: path, access: .creating)
                return try films.add(to: library, policy, join, progress) { report in
                    if isRehearsal { throw Rehearsal(report: report) }
                }
            }
        } catch let rehearsal as Rehearsal {
            report = rehearsal.report
            if isNew { removeLibrary(path) }
        } catch {
            // Nothing was imported, so a library made for this import is removed.
            if isNew { removeLibrary(path) }
            throw error is CancellationError ? Failure("interrupted; nothing was imported") : error
        }
        report.leftOut += films.problems.count(where: \.leavesOut)
        let isFailure = films.warn(of: report, session.output)
        session.print(
            report,
            orLine: "\(path): " + (isRehearsal ? report.plan + "; --dry-run wrote nothing" : report.summary))
        return isFailure ? .someFailed : .done
    }

    private static func removeLibrary(_ path: String) {
        for file in ["", "-wal", "-shm", "-journal"] {
            // Ignored: a file that was not made need not be removed.
            try? FileManager.default.removeItem(atPath: path + file)
        }
    }
}

/// The films of a source that are copied: of a file, a folder, the network, or another library.
struct ImportedFilms: Sendable {
    /// Its name in messages.
    let label: String
    let name: String?
    let count: Int
    /// The base URL of its posters' addresses.
    let base: BaseURL
    /// What is wrong with films of a folder or a server.
    private(set) var problems: [CatalogueError] = []
    /// What a library does not keep of them.
    private var notes: [String] = []
    private let films: Films

    private enum Films: Sendable {
        /// The pages of a catalogue. Those of the sample have its posters.
        case documents([CatalogueDocuments], SampleCatalogue?)
        case library(FilmLibrary)
    }

    init(_ name: String, _ session: Session) async throws {
        let provider = FilmProviders.provider(named: name)
        if provider.abilities.isLibrary, let path = provider.abilities.file {
            let library = try FilmLibrary(path: path, access: .reading)
            label = path
            (self.name, count, base) = (try library.name, try library.count, BaseURL(URL(filePath: path)))
            films = .library(library)
            return
        }
        var selection = FilmSelection()
        selection.fileBytes = CatalogueDocuments.maximumBytes
        let pages = try await session.reading(provider).pages(selection)
        let documents = try Failure.naming(provider.name) {
            try pages.map { try CatalogueDocuments(parsing: $0.bytes) }
        }
        label = provider.name
        problems = pages.flatMap(\.problems)
        notes = Self.losses(of: pages.flatMap(\.films))
        self.name = documents[0].name
        count = documents.reduce(0) { $0 + $1.count }
        // The pages of a service have the same path and differ in their queries.
        base = pages[0].base
        let sample = provider.abilities.sample
        films = .documents(documents, sample.isEmpty ? nil : SampleCatalogue(named: sample))
    }

    /// Adds the films to a library, in one transaction.
    /// - Parameter check: called before its end; an error undoes it.
    func add(
        to library: FilmLibrary, _ policy: FilmImporter.Policy, _ join: FilmJoin?,
        _ progress: LibraryWork.Progress, check: (FilmImporter.Report) throws -> Void = { _ in }
    ) throws -> FilmImporter.Report {
        try library.importFilms { importing in
            var intake = FilmImporter(importing, policy, base: base, library: library.path)
            if let name { try importing.setNameIfNone(name) }
            try forEach { position, film, poster in
                try intake.add(film.map { join?.completed($0) ?? $0 }, poster, position: position)
                try progress.step()
            }
            let report = try intake.finish()
            try check(report)
            return report
        }
    }

    /// Prints what is wrong with the films, the first of many. With --quiet too, if films are left out: the exit status
    /// is theirs.
    /// - Returns: whether films are left out or posters failed.
    func warn(of report: FilmImporter.Report, _ output: Output) -> Bool {
        let isFailure =
            report.leftOut > 0 || report.failedPosters > 0 || problems.contains(where: \.leavesOut)
        let warnings =
            problems.map { "\($0)" + ($0.leavesOut ? "; it is left out" : "") } + report.warnings + notes
        let tell = isFailure ? output.failure(_:) as (String) -> Void : output.notice
        for warning in warnings.prefix(Self.warningsShown) { tell("\(label): \(warning)") }
        let more = warnings.count - Self.warningsShown
        if more > 0 { tell("\(label): and \(more) more of the kind") }
        return isFailure
    }

    private static let warningsShown = 20

    private static func losses(of films: [SourceFilm]) -> [String] {
        [
            (films.count { $0.movie.parts.count > 1 || $0.movie.isSeries }, "episodes or versions"),
            (films.count { $0.marks != FilmMarks() }, "marks of yours"),
        ].filter { $0.0 > 0 }
            .map { "\($0) \($0 == 1 ? "film has" : "films have") \($1), which a library does not keep" }
    }

    /// These films as those that complete others. Their addresses are made absolute.
    var join: FilmJoin {
        get throws {
            var join = FilmJoin()
            try forEach { _, film, _ in
                // Ignored: a film that cannot be read completes none.
                guard var document = try? film.get() else { return }
                for member in [FilmMember.poster, .page] {
                    guard let address = document[member.name]?.string else { continue }
                    // Ignored: an address that cannot be read completes no film.
                    let isReadable = (try? base.resolve(address)) != nil
                    document[member.name] = isReadable ? base.whole(address).map { JSONText($0) } : nil
                }
                join.add(document)
            }
            return join
        }
    }

    /// Calls `body` with each film, its position from 1, and its poster if that is stored.
    func forEach(
        _ body: (Int, Result<FilmDocument, CatalogueError>, PosterBytes?) throws -> Void
    ) throws {
        switch films {
        case .documents(let pages, let sample):
            var before = 0
            for page in pages {
                try page.forEach { position, film in
                    // Ignored: `body` gets the error.
                    let path = sample == nil ? nil : try? film.get()["poster"]?.string
                    try body(before + position, film, path.flatMap { sample?.poster($0) })
                }
                before += page.count
            }
        case .library(let library):
            var position = 0
            try library.exportEach { film, poster in
                position += 1
                let bytes = poster.map { PosterBytes(mediaType: $0.mediaType, bytes: $0.bytes) }
                try body(position, .success(film), bytes)
            }
        }
    }
}
