import LazyImages
import MovieCatalogue
import SystemSupport

/// Saves a poster as a file in the working directory.
enum SavedPoster {
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
            let output = OutputFile(folder: folder, stem: name, ending: ending)
            let threads = BlockingThreads(count: 1, name: "Saving")
            let saved = try await output.write(file, .number, on: threads)
            return (saved.outcome == .same ? "Saved already: " : "Saved as ") + saved.path
        } catch let error as Failure {
            return error.description
        } catch {
            return ImageLoadingError.advised(error)
        }
    }
}
