import FilmSources
import FoundationEssentials
import SystemSupport

/// `marquee backup LIBRARY.db FILE`: copies a library while others use it.
enum BackupCommand: Command {
    static let specification = CommandSpecification(
        name: "backup", operands: "LIBRARY.db FILE", operandCount: 2...2,
        summary: "copy a library while a service or others use it",
        examples: [
            ("marquee backup films.db films-$(date +%F).db", "a copy with the date"),
            ("marquee serve films-2026-12-01.db", "look at what it has"),
        ],
        notes: ["The copy is a library as it was at one moment. It appears whole or not at all."])

    static func run(_ session: Session) async throws -> ExitStatus {
        let (path, copy) = (session.arguments.operands[0], session.arguments.operands[1])
        guard FileKind(copy) == nil else {
            throw Failure("\(copy) is there already; name a file that is not")
        }
        let part = "\(copy).\(getpid()).part"
        // Ignored: the part has become the copy, or was never made.
        defer {
            for end in ["", "-journal", "-wal"] { try? FileManager.default.removeItem(atPath: part + end) }
        }
        try await LibraryWork.run("copying", total: nil, session.output) { _ in
            try FilmLibrary(path: path, access: .reading).backUp(to: part)
            // On disk before it has its name. Then no crash leaves half a copy.
            let file = try FileCalls().openForReading(path: part)
            guard fsync(file.number) == 0, unsafe Glibc.link(part, copy) == 0 else {
                throw Failure("\(copy) cannot be written: \(SystemError.text(errno)); name another file")
            }
        }
        let size = (try? FileCalls().status(ofPath: copy).size) ?? 0
        session.print(["file": copy], orLine: "\(copy): \(ByteCount.text(size))")
        return .done
    }
}
