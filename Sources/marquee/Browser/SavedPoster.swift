import CSystem
import FoundationEssentials
import Glibc
import LazyImages
import MovieCatalogue
import SystemSupport

/// Saves a poster as a file in the working directory.
enum SavedPoster {
    /// The most names that are tried: `nosferatu-1922.jpg`, `nosferatu-1922-2.jpg` and so on.
    private static let mostNames = 1000

    /// Saves a poster's file as it is in the cache; if it is not there, it is loaded first. Never overwrites a file. A
    /// file appears whole or not at all. Blocks no thread of the cooperative pool.
    /// - Returns: the result in one line.
    static func save(_ movie: Movie, _ request: ImageRequest, _ loader: FileLoader, in folder: String) async
        -> String
    {
        var request = request
        if request.cachePolicy != .cacheOnly { request.cachePolicy = .returnCacheElseLoad }
        request.targetSize = nil
        do {
            let file = try await loader.file(for: request)
            let name = FilmID.make(title: movie.title, year: movie.year)
            let ending = file.header.map { "." + $0.format.fileExtension } ?? ""
            let bytes = Data(file.bytes.array)
            let saved = try await BlockingThreads(count: 1, name: "Saving").run {
                Result { () throws(Failure) in try write(bytes, as: name, ending, in: folder) }
            }
            return try saved.get()
        } catch let error as Failure {
            return error.description
        } catch {
            return ImageLoadingError.advised(error)
        }
    }

    /// Writes the bytes under the first free name, unless they are saved already.
    static func write(
        _ bytes: Data, as name: String, _ ending: String, in folder: String
    ) throws(Failure) -> String {
        let part = folder + "/.marquee-\(UInt64.random(in: .min ... .max))"
        defer { unsafe unlink(part) }
        for number in 1...mostNames {
            let file = (number == 1 ? name : "\(name)-\(number)") + ending
            let path = folder + "/" + file
            if OutputFolder.holds(path, bytes) { return "Saved already: \(path)" }
            if unsafe access(part, F_OK) != 0 { try write(bytes, to: part, in: folder) }
            let code = giveName(path, to: part)
            if code == 0 { return "Saved as \(path)" }
            if code != EEXIST { throw Failure("\(path): cannot be written: \(SystemError.text(code))") }
        }
        throw Failure("\(folder): \(name)\(ending) and \(mostNames - 1) more names are taken")
    }

    private static func write(_ bytes: Data, to path: String, in folder: String) throws(Failure) {
        do {
            try bytes.write(to: URL(filePath: path), options: .withoutOverwriting)
        } catch {
            throw Failure(
                "\(folder): the poster cannot be written; is there room, and may you write there?",
                code: "not-written")
        }
    }

    /// Gives a file a name that is still free: 0, or the system's error number.
    private static func giveName(_ path: String, to part: String) -> Int32 {
        if unsafe link(part, path) == 0 { return 0 }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return errno }
        // The file system has no links: an empty file claims the name first.
        let claim = unsafe csystem_open(path, O_WRONLY | O_CREAT | O_EXCL, 0o644)
        if claim < 0 { return errno }
        close(claim)
        return unsafe rename(part, path) == 0 ? 0 : errno
    }
}
