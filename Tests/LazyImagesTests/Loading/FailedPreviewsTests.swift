import FoundationEssentials
import TestSupport
import TestTraits
import Testing

import LazyImages

/// Truncated progressive posters, whose previews are read.
@Suite("A failed load with previews leaves nothing", .bounded)
struct FailedPreviewsTests {
    private let server: PosterServer

    init() throws { server = try PosterServer() }

    @Test("a good image loads after truncated ones that together exceed the memory for bodies")
    func budget() async throws {
        let loader = PosterServer.loader()
        for number in 0..<20 {
            #expect(await server.failure(number, by: loader) == "truncated")
        }
        #expect(try await loader.image(for: server.good).bitmap.damage == nil)
    }

    @Test("a list shows a good image after such rows")
    func list() async throws {
        let model = ImageListModel(
            loader: PosterServer.loader(), rows: (0..<20).map(server.truncated), wantsPreviews: true,
            pressure: nil)
        model.setVisible(0..<20)
        var failed = 0
        for await update in model.updates {
            guard case .failed(let reason, _) = update.state else { continue }
            #expect(reason.code == "truncated")
            failed += 1
            if failed == 20 { break }
        }
        model.setRows([server.good], visible: 0..<1)
        for await update in model.updates where update.key == LoadKey(server.good) {
            if case .failed(let reason, _) = update.state { Issue.record(reason) }
            if case .loading = update.state { continue }
            break
        }
        guard case .loaded = model.state(of: server.good) else {
            Issue.record("\(model.state(of: server.good))")
            return
        }
    }

    @Test("a released loader leaves no thread and no descriptor")
    func threads() async {
        // Other tests of this process have threads too.
        await #expect(processExitsWith: .success) {
            let server = try PosterServer()
            _ = await server.failure(0, by: PosterServer.loader())
            // The threads of this first loader may be ending still, and the pool of Swift's tasks may grow.
            let limits = (threads: entries("task") + 4, descriptors: entries("fd") + 4)
            for number in 0..<20 { _ = await server.failure(number, by: PosterServer.loader()) }
            func isMore() -> Bool {
                entries("task") > limits.threads || entries("fd") > limits.descriptors
            }
            // Threads end a little after their owner.
            for _ in 0..<6_000 where isMore() { try await Task.sleep(for: .milliseconds(5)) }
            #expect(entries("task") <= limits.threads)
            #expect(entries("fd") <= limits.descriptors)
        }
    }
}

/// The number of entries of a folder in `/proc/self`: `task` or `fd`.
private func entries(_ folder: String) -> Int {
    // Ignored: a failed look counts as too many.
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/" + folder).count) ?? .max / 2
}

/// A server with a good poster of 300 KB, and posters that end after 100 KB of 300.
private struct PosterServer {
    private let origin: ScriptedOrigin

    init() throws {
        let whole = try ProgressiveSample().padded(by: 220_000)
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(whole.count)\r\n\r\n".utf8)
        // The connection closes after each answer.
        origin = try ScriptedOrigin([
            .reply { request, _ in
                head + (request.hasPrefix("GET /good") ? whole[...] : whole.prefix(100_000))
            }
        ])
    }

    /// A loader without retries. Its memory for bodies has room for 12 of 20 truncated posters: for six transfers at
    /// once, and for bodies whose previews are still being made.
    static func loader() -> ImageLoader {
        var configuration = ImageDownloader.Configuration.once
        configuration.timeouts = .patient
        configuration.memoryForBodies = 1_200_000
        return .ephemeral(configuration: configuration, pressure: nil)
    }

    var good: ImageRequest { request("good") }

    func truncated(_ number: Int) -> ImageRequest { request("\(number)") }

    /// At an eighth of the size, which decodes fast.
    private func request(_ name: String) -> ImageRequest {
        var request = ImageRequest(origin.url("/\(name).jpg"))
        request.targetSize = ImageSize(width: 62, height: 93)
        return request
    }

    /// Loads a truncated poster and reads its previews. Returns the code of the error.
    func failure(_ number: Int, by loader: ImageLoader) async -> String? {
        let load = loader.imageTask(with: truncated(number))
        for await _ in load.previews {}
        return await Result.of { () async throws(ImageLoadingError) in try await load.value }.error?.code
    }
}
