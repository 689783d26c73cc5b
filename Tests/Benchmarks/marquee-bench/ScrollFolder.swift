import Foundation

/// A catalogue of any length: the sample films repeated, each with another name and a poster at its own address, so
/// that no two films share an image.
struct ScrollFolder {
    let path: String

    init(films: Int, in scratch: ScratchFolder) throws {
        path = try scratch.new("films")
        guard FileManager.default.fileExists(atPath: "sample-data/movies.json") else {
            throw BenchmarkFailure(description: "scroll needs to run where the folder sample-data is")
        }
        try FileManager.default.copyItem(atPath: "sample-data/posters", toPath: path + "/posters")
        let sample = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(filePath: "sample-data/movies.json")))
        guard let movies = (sample as? [String: Any])?["movies"] as? [[String: Any]], !movies.isEmpty else {
            throw BenchmarkFailure(
                description: "sample-data/movies.json is not the catalogue that scroll knows")
        }
        let entries = (0..<films).map { number in
            var movie = movies[number % movies.count]
            for key in ["id", "title"] { movie[key] = "\(movie[key] ?? "") \(number)" }
            movie["poster"] = "\(movie["poster"] ?? "")?film=\(number)"
            return movie
        }
        try JSONSerialization.data(withJSONObject: entries).write(to: URL(filePath: path + "/movies.json"))
    }
}
