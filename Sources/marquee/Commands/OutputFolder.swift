import FoundationEssentials
import Glibc
import ImageCodecs
import LazyImages
import SystemSupport

/// The folder that `fetch -o` writes to. Each file appears whole or not at all, and one that is there and equal is left
/// alone. Names are claimed before anything is fetched: who claims first has the plain one.
final class OutputFolder: Sendable {
    fileprivate struct Claims {
        /// One file for each address.
        var names: [CacheKey: String] = [:]
        /// The names given out, and what they are without their endings.
        var taken: Set<String> = []
        var stems: Set<String> = []
        /// The number that was given out last for a name.
        var numbers: [String: Int] = [:]
    }

    private let path: String
    private let threads = BlockingThreads(count: 1)
    private let claims = Lock(Claims())

    /// Makes the folder if it is not there.
    init(_ path: String) throws(Failure) {
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw Failure("\(path): the folder cannot be made; choose another with -o")
        }
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            throw Failure("\(path): the folder cannot be written; choose another with -o")
        }
    }

    /// The name for what the request brings, `poster.jpg`, `poster-2.jpg`, …: the film's, or the last part of the address.
    /// Nobody else in this run has it, whatever ending either gets when it is written.
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

    /// Writes the image's bytes under the name, with the ending that fits what they are.
    /// - Returns: the file's path.
    func write(_ image: LoadedFile, as name: String) async throws(Failure) -> String {
        let file = path + "/" + Self.fileName(name, format: image.header?.format)
        try await Self.write(image.bytes, to: file, on: threads)
        return file
    }

    /// Writes bytes to a file, whole or not at all.
    static func write(_ bytes: ImageBytes, to file: String, on threads: BlockingThreads) async throws(Failure)
    {
        let failure: Failure?
        do {
            failure = try await threads.run { () -> Failure? in
                let bytes = Data(bytes.array)
                if Self.holds(file, bytes) { return nil }
                do {
                    try bytes.write(to: URL(filePath: file), options: .atomic)
                    return nil
                } catch {
                    return Failure(
                        "\(file): cannot be written; is there room, and may you write there?",
                        code: "not-written")
                }
            }
        } catch {
            throw Failure(error, doing: file)
        }
        if let failure { throw failure }
    }

    /// Whether the file is there with these bytes. A pipe or a device of this name is not read: it might never end.
    static func holds(_ file: String, _ bytes: Data) -> Bool {
        var status = stat()
        guard unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Int(status.st_size) == bytes.count
        else { return false }
        // Losing the error is right: what cannot be read is written anew.
        return (try? Data(contentsOf: URL(filePath: file))) == bytes
    }

    /// The last part of the address, or the film's name, without anything that means something to a file system.
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

    /// The name with the format's ending behind it, unless it has that already.
    static func fileName(_ name: String, format: ImageFormat?) -> String {
        guard let format else { return name }
        let ending = dot(in: name).map { name[$0...].lowercased() }
        let fitting = format == .jpeg ? [".jpg", ".jpeg"] : ["." + format.fileExtension]
        return fitting.contains(ending ?? "") ? name : name + "." + format.fileExtension
    }

    /// Where the ending begins.
    fileprivate static func dot(in name: String) -> String.Index? {
        name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil }
    }

    /// In bytes; file systems take 255 for the whole name, which has an ending and perhaps a number.
    private static let longestStem = 200

    /// What neither separates folders nor misleads who lists the folder.
    private static func isUsable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: scalar != "/" && !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}

extension OutputFolder.Claims {
    /// Whether the name, or what it becomes with an ending, may be another's: `a` and `a.png` are one if `a` is a PNG.
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
