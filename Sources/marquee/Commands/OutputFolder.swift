import FoundationEssentials
import Glibc
import ImageCodecs
import LazyImages

/// The folder that `fetch -o` writes to. Each file appears whole or not at all.
final class OutputFolder: Sendable {
    private let path: String
    private let threads = BlockingThreads(count: 1)
    /// Names given out in this run: two addresses never write one file.
    private let names = Lock(Set<String>())

    /// Makes the folder if it is not there.
    init(_ path: String) throws(Failure) {
        self.path = path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw Failure("\(path): the folder cannot be made; choose another with -o")
        }
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            throw Failure("\(path): the folder cannot be written; choose another with -o")
        }
    }

    /// Writes the image's bytes under `name`, or under the last part of its address.
    func write(_ image: LoadedFile, name: String?) async throws(Failure) {
        let file = path + "/" + claimName(for: image, name: name)
        let failure: Failure?
        do {
            failure = try await threads.run { () -> Failure? in
                do {
                    try Data(image.bytes.array).write(to: URL(filePath: file), options: .atomic)
                    return nil
                } catch {
                    return Failure("\(file): cannot be written; is there room, and may you write there?")
                }
            }
        } catch {
            throw Failure(error, doing: file)
        }
        if let failure { throw failure }
    }

    /// A name nobody else in this run has: `poster.jpg`, `poster-2.jpg`, …
    private func claimName(for image: LoadedFile, name: String?) -> String {
        let (stem, ending) = Self.fileName(of: image.url, format: image.header?.format, name: name)
        return names.withLock { names in
            var candidate = stem + ending
            var number = 2
            while !names.insert(candidate).inserted {
                candidate = "\(stem)-\(number)\(ending)"
                number += 1
            }
            return candidate
        }
    }

    /// The last part of the address, without anything that means something to a file system, and the ending that fits what
    /// the bytes are.
    static func fileName(
        of url: URL, format: ImageFormat?, name: String?
    ) -> (stem: String, ending: String) {
        let isNamed = url.scheme?.lowercased() != "data" && url.lastPathComponent != "/"
        let last = name ?? (isNamed ? url.lastPathComponent : "")
        var safe = ""
        for scalar in last.unicodeScalars.drop(while: { $0 == "." }) {
            guard safe.utf8.count < longestStem else { break }
            safe.unicodeScalars.append(isUsable(scalar) ? scalar : "_")
        }
        var ending = ""
        if let dot = safe.lastIndex(of: "."), dot > safe.startIndex, name == nil {
            ending = String(safe[dot...])
            safe = String(safe[..<dot])
        }
        if let format, !(format == .jpeg && ending.lowercased() == ".jpeg") {
            ending = "." + format.fileExtension
        }
        return (safe.isEmpty ? "image" : safe, ending)
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
