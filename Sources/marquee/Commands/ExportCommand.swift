import FilmSources
import Films
import FoundationEssentials
import SystemSupport
import TerminalGraphics

/// `marquee export LIBRARY.db`: writes a library as a catalogue to standard output or a file, with its votes and posters,
/// so that an import restores all of it.
enum ExportCommand: Command {
    static let specification = CommandSpecification(
        name: "export", operands: "LIBRARY.db", operandCount: 1...1,
        summary: "write a library as a catalogue in JSON or XML, with its posters and votes",
        examples: [
            ("marquee export films.db > films.json", "a copy that any program can read"),
            ("marquee export films.db -o films.json", "the same; the file appears when it is whole"),
            ("marquee export films.db --format xml", "in XML"),
            ("marquee import films.json copy.db", "back to a library: nothing is lost"),
        ],
        options: [
            Option(
                name: "format", value: "FORMAT", help: "json or xml (default: json)",
                choices: ["json", "xml"]),
            Option(name: "no-posters", help: "leave out the posters stored in the library"),
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
        let library = try FilmLibrary(path: arguments.operands[0], access: .reading)
        let hasPosters = !arguments.has("no-posters")
        let count = try library.count
        let stream = path == "-" ? nil : try await OutputFile(path).openIfStream()
        let written: WrittenFile? = try await LibraryWork.run("exporting", total: count, session.output) {
            progress in
            guard path != "-" else {
                try export(library, format, hasPosters, progress) { Output.write($0, to: STDOUT_FILENO) }
                return nil
            }
            return try OutputFile(path).write(existing, toStream: stream) { write in
                try export(library, format, hasPosters, progress) { try write(Array($0.utf8)) }
            }
        }
        if let written, written.outcome == .kept {
            session.output.notice("\(written.path) is there and is kept")
        }
        return .done
    }

    /// Whether a path leads to the library, or to one of the files that SQLite keeps beside it.
    private static func isPart(_ path: String, of library: String) -> Bool {
        if let number = FileNumber(library), FileNumber(path) == number { return true }
        let real = URL(filePath: library).resolvingSymlinksInPath().path
        let file = URL(filePath: path).resolvingSymlinksInPath().path
        return ["-wal", "-shm", "-journal"].contains { file == real + $0 }
    }

    /// Writes the whole catalogue in pieces.
    private static func export(
        _ library: FilmLibrary, _ format: CatalogueWriter.Format, _ hasPosters: Bool,
        _ progress: LibraryWork.Progress, _ write: (String) throws -> Void
    ) throws {
        var writer = CatalogueWriter(format: format, name: try library.name)
        var text = harmless(writer.start, format)
        try library.exportEach { film, poster in
            var film = film
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
