import FoundationEssentials
import Glibc
import LazyImages

/// Where the films come from: the sample catalogue, a file, or the network.
enum CatalogueSource: Sendable {
    /// The sample catalogue in this folder; its posters travel over HTTP from the embedded origin.
    case sample(folder: String)
    case file(path: String)
    case url(String)
    /// No catalogue is named and the sample data is nowhere near.
    case missing

    /// The stable name of the embedded origin: keys do not change from run to run though its port does.
    static let sampleHost = "sample.localhost"

    /// The source that `name` stands for; nil for the sample catalogue.
    init(_ name: String?) {
        if let name {
            self = name.contains("://") ? .url(name) : .file(path: name)
        } else if let folder = Self.sampleFolder() {
            self = .sample(folder: folder)
        } else {
            self = .missing
        }
    }

    /// How messages call it.
    var name: String {
        switch self {
        case .sample(let folder): folder + "/movies.json"
        case .file(let path): path
        case .url(let text): text
        case .missing: "the sample catalogue"
        }
    }

    /// What the addresses in it are relative to.
    var base: URL {
        switch self {
        case .file(let path): URL(filePath: path)
        // An address that is none fails when it is read, before anything is relative to it.
        case .url(let text): (try? URL(typed: text)) ?? URL(filePath: text)
        case .sample, .missing: Self.sampleBase
        }
    }

    /// What the addresses in the manifest at `path` are relative to: its own place, which for a file of the sample data is
    /// at the embedded origin.
    func base(ofFile path: String) -> URL {
        let file = URL(filePath: path)
        guard case .sample(let folder) = self,
            file.deletingLastPathComponent().resolvingSymlinksInPath().path
                == URL(filePath: folder).resolvingSymlinksInPath().path
        else { return file }
        return Self.sampleBase
    }

    /// The address of the embedded origin.
    static let sampleBase = URL(string: "http://\(sampleHost)/") ?? URL(filePath: "/")

    /// The file's content.
    func read(with session: Session) async throws -> [UInt8] {
        switch self {
        case .missing:
            throw Failure(
                "the sample catalogue is neither in the working folder nor beside the program; "
                    + "name a catalogue with --catalogue FILE or --catalogue URL")
        case .sample: return try Self.read(path: name)
        case .file(let path): return try Self.read(path: path)
        case .url(let text): return try await Self.read(url: text, with: session)
        }
    }

    /// What the network has, or offline what is left of the last time.
    static func read(url: String, with session: Session) async throws -> [UInt8] {
        var request = try session.request(for: url, relativeTo: nil)
        if !session.settings.isOffline { request.cachePolicy = .reload }
        var configuration = session.settings.downloads
        configuration.acceptsAnyContent = true
        let loader = ImageLoader(disk: session.disk, configuration: configuration)
        let image = try await loader.image(for: request)
        await loader.flush()
        return image.bytes.array
    }

    static func read(path: String) throws(Failure) -> [UInt8] {
        do {
            return try [UInt8](Data(contentsOf: URL(filePath: path)))
        } catch {
            let reason = unsafe access(path, F_OK) == 0 ? "it cannot be read" : "there is no such file"
            throw Failure("\(path): \(reason); check the path")
        }
    }

    /// The folder `sample-data` in the working folder, or beside the program, or beside a folder that the program is in:
    /// that is where a build leaves it.
    private static func sampleFolder() -> String? {
        let working = FileManager.default.currentDirectoryPath
        var candidates = [working]
        if let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            var folder = URL(filePath: program).deletingLastPathComponent()
            for _ in 0..<5 {
                candidates.append(folder.path)
                folder.deleteLastPathComponent()
            }
        }
        return candidates.map { $0 + "/sample-data" }.first { unsafe access($0 + "/movies.json", R_OK) == 0 }
    }
}
