import FoundationEssentials
import ImageCodecs
import TestSupport

/// The sample catalogue with posters of 88 x 132 pixels, in a folder of its own. A program that is built without
/// optimisation decodes such a poster in milliseconds; the sample's own take it a twentieth of a second each.
///
/// A program that starts in the folder finds the catalogue there, and serves its posters as it serves the sample's own.
final class SmallSample {
    let folder: TemporaryFolder

    private struct Poster {
        let name: String
        let bytes: Data
    }

    /// `SmallPosters` has some posters of the sample, baseline, progressive, grey and PNG. The other films share them.
    private static let posters = Result {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "SmallPosters")
        let small = try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted().map {
            Poster(name: $0, bytes: try Data(contentsOf: sources.appending(path: $0)))
        }
        return try FileManager.default.contentsOfDirectory(atPath: sample + "/posters").sorted().enumerated()
            .map { index, name in
                let kind = small.filter { $0.name.suffix(4) == name.suffix(4) }
                let own = kind.first { $0.name == name } ?? kind[index % kind.count]
                return Poster(name: name, bytes: own.bytes)
            }
    }

    private static let sample = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../sample-data").path

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("sample-data/posters")
        try FileManager.default.copyItem(
            atPath: Self.sample + "/movies.json", toPath: folder.file("sample-data/movies.json"))
        for poster in try Self.posters.get() {
            try folder.write(poster.bytes, to: "sample-data/posters/" + poster.name)
        }
    }

    /// The path of a copy of `fleet/run.sh`, which serves this catalogue.
    func fleetScript() throws -> String {
        let fleet = folder.file("sample-data/fleet")
        try FileManager.default.copyItem(atPath: Self.sample + "/fleet", toPath: fleet)
        return fleet + "/run.sh"
    }

    /// Starts the program in the folder, which is also its cache folder. A script finds the program in `$MARQUEE`, and
    /// its own arguments from `$1` on; by default it runs the program with them.
    func started(
        _ arguments: [String] = [], script: String = "exec \"$MARQUEE\" \"$@\"",
        environment: [String: String] = [:], columns: Int = 80, rows: Int = 24, cellPixels: ImageSize? = nil
    ) throws -> PseudoTerminal {
        let own = ["XDG_CACHE_HOME": folder.path, "MARQUEE": BuiltProgram.path("marquee")]
        return try PseudoTerminal(
            "/bin/sh", ["-c", "cd '\(folder.path)' && { \(script); }", "sh"] + arguments,
            environment: environment.merging(own) { $1 }, columns: columns, rows: rows, cellPixels: cellPixels
        )
    }
}
