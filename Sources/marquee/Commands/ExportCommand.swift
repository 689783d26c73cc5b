import FilmSources
import Films
import FoundationEssentials
import SystemSupport
import TerminalGraphics

/// `marquee export CATALOGUE`: writes the films of a source as a catalogue to standard output or a file. Of a library it
/// has the votes and posters too, so that an import restores all of it.
enum ExportCommand: Command {
    static let specification = CommandSpecification(
        name: "export", operands: "CATALOGUE", operandCount: 1...1,
        summary: "write a library, or any other source of films, as a catalogue in JSON or XML",
        examples: [
            ("marquee export films.db > films.json", "a copy that any program can read"),
            ("marquee export films.db -o films.json", "the same; the file appears when it is whole"),
            ("marquee export films.db --format xml", "in XML"),
            ("marquee import films.json copy.db", "back to a library: nothing is lost"),
            ("marquee export ~/Films --no-posters", "a folder of films, or a server, as one list"),
        ],
        options: [
            Option(
                name: "format", value: "FORMAT", help: "json or xml (default: json)",
                choices: ["json", "xml"]),
            Option(name: "no-posters", help: "leave out the posters stored in the library, or in files"),
            Option(
                name: "output", letter: "o", value: "FILE",
                help: "the file to write (default: -, standard output)"),
        ] + ExistingFile.options)

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        let format = try arguments.choice("format") ?? CatalogueWriter.Format.json
        let path = arguments.value("output") ?? "-"
        if path.isEmpty || path.hasSuffix("/") || FileKind(path) == .folder {
            throw UsageError("--output needs a file, not a folder")
        }
        let existing = try ExistingFile(arguments, else: .refuse)
        try CommandLineWords.requireUTF8(arguments.operands[0])
        if Self.isPart(path, of: arguments.operands[0]) {
            throw Failure(
                "\(path): this file belongs to the library \(arguments.operands[0]); name another with -o")
        }
        let isLibrary = FilmProviders.provider(named: arguments.operands[0]).abilities.isLibrary
        let (library, isWhole) = try await library(arguments.operands[0], isLibrary, session)
        let hasPosters = !arguments.has("no-posters")
        // When the films of another source were made is not known.
        let left: [FilmMember] = isLibrary ? [] : [.createdAt, .updatedAt]
        let count = try library.count
        let stream = path == "-" ? nil : try await OutputFile(path).openIfStream()
        let written: WrittenFile? = try await LibraryWork.run("exporting", total: count, session.output) {
            progress in
            guard path != "-" else {
                try export(library, format, hasPosters, left, progress) {
                    Output.write($0, to: STDOUT_FILENO)
                }
                return nil
            }
            return try OutputFile(path).write(existing, toStream: stream) { write in
                try export(library, format, hasPosters, left, progress) { try write(Array($0.utf8)) }
            }
        }
        if let written, written.outcome == .kept {
            session.output.notice("\(written.path) is there and is kept")
        }
        return isWhole ? .done : .someFailed
    }

    /// The library to write, and whether it has all films. Of another source it is a private one, which exists as long as
    /// this process.
    private static func library(
        _ name: String, _ isLibrary: Bool, _ session: Session
    ) async throws -> (FilmLibrary, isWhole: Bool) {
        if isLibrary { return (try FilmLibrary(path: name, access: .reading), true) }
        let films = try await ImportedFilms(name, session)
        let library = try FilmLibrary(inMemoryFor: name)
        let report = try await LibraryWork.run("reading", total: films.count, session.output) { progress in
            try films.add(to: library, .refuse, nil, progress)
        }
        return (library, !films.warn(of: report, session.output))
    }

    /// Whether a path leads to the library, or to one of the files that SQLite keeps beside it.
    private static func isPart(_ path: String, of library: String) -> Bool {
        if let number = FileNumber(library), FileNumber(path) == number { return true }
        let real = URL(filePath: library).resolvingSymlinksInPath().path
        let file = URL(filePath: path).resolvingSymlinksInPath().path
        return ["-wal", "-shm", "-journal"].contains { file == real + $0 }
    }

    /// Writes the whole catalogue in pieces.
    /// - Parameter left: the members that are left out.
    private static func export(
        _ library: FilmLibrary, _ format: CatalogueWriter.Format, _ hasPosters: Bool, _ left: [FilmMember],
        _ progress: LibraryWork.Progress, _ write: (String) throws -> Void
    ) throws {
        var writer = CatalogueWriter(format: format, name: try library.name)
        var text = harmless(writer.start, format)
        try library.exportEach { film, poster in
            var film = film
            for member in left { film[member.name] = nil }
            if let poster, hasPosters {
                let data = Data(poster.bytes).base64EncodedString()
                film["poster"] = JSONText("data:\(poster.mediaType);base64,\(data)")
            }
            text += harmless(writer.film(film), format)
            if text.utf8.count >= pieceBytes {
                try write(text)
                text = ""
            }
            try progress.step()
        }
        try write(text + writer.end)
    }

    /// The bytes of one write.
    private static let pieceBytes = 256 << 10

    /// Escapes characters in JSON that could steer a terminal; the meaning is the same. XML has no such escapes, so on
    /// a terminal these characters are made visible.
    private static func harmless(_ text: String, _ format: CatalogueWriter.Format) -> String {
        switch format {
        case .json: TerminalText.sanitized(json: text)
        case .xml: Output.isTerminal ? TerminalText.visible(text, keepingNewlines: true) : text
        }
    }
}
