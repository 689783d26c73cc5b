import FilmLibrary
import FoundationEssentials
import Glibc
import MovieCatalogue
import SystemSupport
import TerminalGraphics

/// `marquee export LIBRARY.db`: writes a library as a catalogue to standard output, with its votes and posters, so that
/// an import restores all of it.
enum ExportCommand: Command {
    static let specification = CommandSpecification(
        name: "export", operands: "LIBRARY.db", operandCount: 1...1,
        summary: "write a library as a catalogue in JSON or XML, with its posters and votes",
        examples: [
            ("marquee export films.db > films.json", "a copy that any program can read"),
            ("marquee export films.db --format xml", "in XML"),
            ("marquee import films.json copy.db", "back to a library: nothing is lost"),
        ],
        options: [
            Option(
                name: "format", value: "FORMAT", help: "json or xml (default: json)",
                choices: ["json", "xml"]),
            Option(name: "no-posters", help: "leave out the posters stored in the library"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let arguments = session.arguments
        let word = arguments.value("format") ?? CatalogueWriter.Format.json.rawValue
        guard let format = CatalogueWriter.Format(rawValue: word) else {
            throw UsageError("--format needs one of json, xml, not \"\(word)\"")
        }
        let library = try FilmLibrary(path: arguments.operands[0], access: .reading)
        let hasPosters = !arguments.has("no-posters")
        let (name, count) = (try library.name, try library.count)
        try await LibraryWork.run("exporting", total: count, session.output) { progress in
            var writer = CatalogueWriter(format: format, name: name)
            var text = harmless(writer.start, format)
            var failure: (any Error)?
            try library.forEachExported { film, poster throws(FilmLibraryError) in
                var film = film
                if let poster, hasPosters {
                    let data = Data(poster.bytes).base64EncodedString()
                    film["poster"] = JSONText("data:\(poster.mediaType);base64,\(data)")
                }
                text += harmless(writer.film(film), format)
                if text.utf8.count >= pieceBytes {
                    Output.write(text, to: STDOUT_FILENO)
                    text = ""
                }
                do {
                    try progress.step()
                } catch {
                    failure = error
                }
                return failure == nil
            }
            if let failure { throw failure }
            Output.write(text + writer.end, to: STDOUT_FILENO)
        }
        return .done
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
