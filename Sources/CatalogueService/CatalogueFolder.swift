import CSystem
import Glibc
import HTTPServer
import SystemSupport

/// The served folder. Files are opened from its descriptor, name by name, and links are never followed. So no request
/// can reach a file outside it, even while someone changes the folder.
final class CatalogueFolder: Sendable {
    enum Failure: Error {
        /// No such file, or a file that is not served: a folder, a link, a pipe, an unreadable file.
        case notFound
        /// The system has no descriptor or memory left.
        case exhausted
    }

    private let root: Descriptor

    /// Opens a folder; the path itself may contain links.
    init(path: String) throws(CatalogueServiceError) {
        let number = unsafe csystem_open(path, O_RDONLY | O_DIRECTORY, 0)
        guard number >= 0 else {
            switch errno {
            case ENOENT: throw .noSuchFolder(path: path)
            case ENOTDIR: throw .notAFolder(path: path)
            case EACCES, EPERM: throw .folderNotReadable(path: path)
            default: throw .folderRefused(path: path, errno: errno)
            }
        }
        root = Descriptor(number)
    }

    /// Opens the regular file at `names`. They are plain names: no separator, no NUL, not hidden.
    func open(_ names: [[UInt8]]) throws(Failure) -> ServedFile {
        guard let last = names.last else { throw .notFound }
        var folder = root.number
        defer { if folder != root.number { close(folder) } }
        for name in names.dropLast() {
            let next = Self.openEntry(of: folder, name, O_RDONLY | O_DIRECTORY)
            guard next >= 0 else { throw Self.failure(errno) }
            if folder != root.number { close(folder) }
            folder = next
        }
        // Without it, opening a pipe would wait for a writer.
        let descriptor = Self.openEntry(of: folder, last, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        guard let file = ServedFile(owning: descriptor) else { throw .notFound }
        return file
    }

    /// The names of the catalogues and manifests directly in the folder, sorted. The path `/` lists them if none of
    /// them is the catalogue.
    func catalogueNames() -> [String] {
        // Ignored: a folder that cannot be listed, as one that has been removed, lists nothing.
        guard let names = try? FileCalls().names(in: root) else { return [] }
        return names.filter { name in
            [".json", ".xml", ".txt"].contains { name.hasSuffix($0) } && !name.hasPrefix(".")
                // Leaves out a name that would break the line, or was not UTF-8 and has been repaired.
                && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{7F}" && $0 != "\u{FFFD}" }
        }.sorted()
    }

    /// The name of the folder's catalogue, for the path `/`: `movies.json` or `movies.xml`, else the only JSON or XML
    /// file. Nil if there is none, or several.
    func catalogueName() -> String? {
        // A folder of ten thousand posters is not listed for its usual catalogue. Losing the error is right: a name
        // that cannot be looked up is no catalogue.
        let usual = ["movies.json", "movies.xml"].first { (try? FileCalls().status(of: $0, in: root)) != nil }
        if let usual { return usual }
        let names = catalogueNames().filter { $0.hasSuffix(".json") || $0.hasSuffix(".xml") }
        return names.count == 1 ? names[0] : nil
    }

    private static func openEntry(of folder: Int32, _ name: [UInt8], _ flags: Int32) -> Int32 {
        let terminated = name.map(CChar.init(bitPattern:)) + [0]
        return unsafe csystem_open_entry(folder, terminated, flags)
    }

    private static func failure(_ errno: Int32) -> Failure {
        [EMFILE, ENFILE, ENOMEM].contains(errno) ? .exhausted : .notFound
    }
}
