import FoundationEssentials
import Glibc
import ImageCodecs
import LazyImages
import SystemSupport

/// The folder of `-o`. Each file appears whole or not at all, and an equal file is left alone. Names are claimed before
/// anything is fetched; the first to claim a name gets it without a number.
final class OutputFolder: Sendable {
    fileprivate struct Claims {
        /// The name of each address.
        var names: [CacheKey: String] = [:]
        /// The claimed names, and the same without their endings.
        var taken: Set<String> = []
        var stems: Set<String> = []
        /// The last number for each name.
        var numbers: [String: Int] = [:]
    }

    private let path: String
    private let existing: ExistingFile
    private let threads = BlockingThreads(count: 1)
    private let claims = Lock(Claims())

    /// Makes the folder if it does not exist.
    /// - Parameter existing: what happens to other files of the same names.
    init(_ path: String, existing: ExistingFile) throws(Failure) {
        self.existing = existing
        // All slashes but the first: "/" is the root.
        let trimmed = path.lastIndex { $0 != "/" }.map { String(path[...$0]) }
        self.path = trimmed ?? path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            let kind = FileKind(self.path)
            let reason = kind == nil ? Self.reason(self.path) : "there is a file of this name"
            throw Failure("\(path): cannot make the folder: \(reason); choose another with -o")
        }
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            throw Failure("\(path): the folder is not writable; choose another with -o")
        }
    }

    /// The system's reason why a folder cannot be made: Foundation's error has none.
    private static func reason(_ path: String) -> String {
        do throws(FileFault) {
            try FileCalls().makeFolders(path)
            return "it is there now; try again"
        } catch {
            return SystemError.text(error.code)
        }
    }

    /// The file's name: the film's, or the last part of the address: `poster.jpg`, `poster-2.jpg`, … No other file of
    /// this run has this name, whatever its ending.
    func claim(_ request: ImageRequest, name: String?) -> String {
        let (stem, ending) = Self.name(of: request.url, name: name)
        return claims.withLock { claims in
            if let name = claims.names[request.key] { return name }
            var candidate = stem + ending
            while claims.isTaken(candidate) {
                let number = claims.numbers[stem + ending, default: 1] + 1
                claims.numbers[stem + ending] = number
                candidate = "\(stem)-\(number)\(ending)"
            }
            claims.take(candidate, for: request.key)
            return candidate
        }
    }

    /// Writes the image's bytes under the name, with the ending of their format.
    func write(_ image: LoadedFile, as name: String) async throws(Failure) -> WrittenFile {
        let name = Self.fileName(name, format: image.header?.format)
        let dot = Self.dot(in: name) ?? name.endIndex
        let file = OutputFile(folder: path, stem: String(name[..<dot]), ending: String(name[dot...]))
        return try await file.write(image, existing, on: threads)
    }

    /// The last part of the address, or the film's name, without characters that file systems treat specially.
    static func name(of url: URL, name: String?) -> (stem: String, ending: String) {
        let isNamed = url.scheme?.lowercased() != "data" && url.lastPathComponent != "/"
        let last = name ?? (isNamed ? url.lastPathComponent : "")
        var safe = ""
        for scalar in last.unicodeScalars.drop(while: { $0 == "." }) {
            guard safe.utf8.count < longestStem else { break }
            safe.unicodeScalars.append(isUsable(scalar) ? scalar : "_")
        }
        guard name == nil, let dot = dot(in: safe) else { return (safe.isEmpty ? "image" : safe, "") }
        return (String(safe[..<dot]), String(safe[dot...]))
    }

    /// The name with the format's ending, unless it has it already.
    static func fileName(_ name: String, format: ImageFormat?) -> String {
        guard let format else { return name }
        let ending = dot(in: name).map { name[$0...].lowercased() }
        let fitting = format == .jpeg ? [".jpg", ".jpeg"] : ["." + format.fileExtension]
        return fitting.contains(ending ?? "") ? name : name + "." + format.fileExtension
    }

    /// The index of the ending's dot.
    static func dot(in name: String) -> String.Index? {
        name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil }
    }

    /// In bytes. File systems allow 255 for the whole name, with its ending and number.
    private static let longestStem = 200

    /// Whether a character is safe in a file name and in a listing.
    private static func isUsable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: scalar != "/" && !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}

extension OutputFolder.Claims {
    /// Whether the name with some ending may equal a claimed one: `a` and `a.png` are the same if `a` is a PNG.
    func isTaken(_ name: String) -> Bool {
        taken.contains(name) || stems.contains(name) || Self.stem(of: name).map(taken.contains) == true
    }

    mutating func take(_ name: String, for key: CacheKey) {
        names[key] = name
        taken.insert(name)
        if let stem = Self.stem(of: name) { stems.insert(stem) }
    }

    private static func stem(of name: String) -> String? {
        OutputFolder.dot(in: name).map { String(name[..<$0]) }
    }
}
