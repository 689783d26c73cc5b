import CSystem
import Glibc
import HTTPServer

/// The served folder. Files are opened from its descriptor, name by name, and links are never followed. So no request
/// can reach a file outside it, even while someone changes the folder.
final class CatalogueFolder: Sendable {
    enum Failure: Error {
        /// No such file, or a file that is not served: a folder, a link, a pipe, an unreadable file.
        case notFound
        /// The system has no descriptor or memory left.
        case exhausted
    }

    private let root: Int32

    /// Opens a folder; the path itself may contain links.
    init(path: String) throws(CatalogueServiceError) {
        root = unsafe csystem_open(path, O_RDONLY | O_DIRECTORY, 0)
        guard root >= 0 else {
            switch errno {
            case ENOENT: throw .noSuchFolder(path: path)
            case ENOTDIR: throw .notAFolder(path: path)
            case EACCES, EPERM: throw .folderNotReadable(path: path)
            default: throw .folderRefused(path: path, errno: errno)
            }
        }
    }

    deinit { close(root) }

    /// Opens the regular file at `names`. They are plain names: no separator, no NUL, not hidden.
    func open(_ names: [[UInt8]]) throws(Failure) -> ServedFile {
        guard let last = names.last else { throw .notFound }
        var folder = root
        defer { if folder != root { close(folder) } }
        for name in names.dropLast() {
            let next = Self.openEntry(of: folder, name, O_RDONLY | O_DIRECTORY)
            guard next >= 0 else { throw Self.failure(errno) }
            if folder != root { close(folder) }
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
        let copy = unsafe csystem_open_entry(root, ".", O_RDONLY | O_DIRECTORY)
        guard copy >= 0 else { return [] }
        guard let listing = unsafe fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { unsafe closedir(listing) }
        var names: [String] = []
        while let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe Array(bytes.prefix { $0 != 0 })
            }
            let isCatalogue = [".json", ".xml", ".txt"].contains {
                name.reversed().starts(with: $0.utf8.reversed())
            }
            // Leaves out a name that is not text or would break the line.
            guard isCatalogue, name.first != UInt8(ascii: "."), name.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
                let text = String(validating: name, as: UTF8.self)
            else { continue }
            names.append(text)
        }
        return names.sorted()
    }

    /// The name of the folder's catalogue, for the path `/`: `movies.json` or `movies.xml`, else the only JSON or XML
    /// file. Nil if there is none, or several.
    func catalogueName() -> String? {
        let names = catalogueNames().filter { $0.hasSuffix(".json") || $0.hasSuffix(".xml") }
        let usual = ["movies.json", "movies.xml"].first(where: names.contains)
        return usual ?? (names.count == 1 ? names[0] : nil)
    }

    private static func openEntry(of folder: Int32, _ name: [UInt8], _ flags: Int32) -> Int32 {
        let terminated = name.map(CChar.init(bitPattern:)) + [0]
        return unsafe csystem_open_entry(folder, terminated, flags)
    }

    private static func failure(_ errno: Int32) -> Failure {
        [EMFILE, ENFILE, ENOMEM].contains(errno) ? .exhausted : .notFound
    }
}
