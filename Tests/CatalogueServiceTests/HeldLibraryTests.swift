import FilmSources
import Films
import HTTPServer
import ServiceOperations
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

/// A service with one thread for all connections, over a library in memory that is busy.
@Suite("A busy library", .bounded, .ownThread)
struct HeldLibraryTests {
    private let library: FilmLibrary
    private let service: CatalogueService
    private let admin: HTTPServer

    init() throws {
        library = try FilmLibrary(inMemoryFor: "films")
        _ = try library.insert(FilmDocument(json: JSONText(parsing: Array(#"{"title":"A"}"#.utf8))), id: "a")
        var configuration = CatalogueService.Configuration()
        configuration.server.eventThreads = 1
        service = try CatalogueService(.films(library), configuration: configuration)
        try service.start()
        admin = try HTTPServer(
            configuration: HTTPServer.Configuration(),
            handler: AdminHandler(metrics: Metrics(), readiness: Readiness(unreadyBecause: nil)))
        try admin.start()
    }

    /// Runs `work`, which waits at the gate, while requests are answered on two connections.
    private func hold(_ work: @escaping @Sendable (FilmLibrary, () -> Void) throws -> Void) throws {
        let (reached, gate, ended) = (Gate(), Gate(), Gate())
        let library = library
        try BlockingThreads.startThread {
            // Ignored: the answers below are what is tested.
            try? work(library) {
                reached.open()
                gate.wait()
            }
            ended.open()
        }
        reached.wait()
        for _ in 0..<2 {
            let client = try RawClient(port: service.port)
            for target in ["/films/a", "/films", "/films?q=a", "/films?q=b", "/films/top3"] {
                #expect(try client.get(target).status == 200)
            }
            #expect(try client.get("/films/none").status == 404)
            let wrong = try client.get("/films?q=year:soon")
            #expect(wrong.status == 400 && wrong.text.contains("1920..1929"))
        }
        let port = try #require(admin.ports[0])
        #expect(try RawClient(port: port).get("/health/ready").status == 200)
        gate.open()
        ended.wait()
        service.stop()
        admin.stop()
    }

    @Test("requests are answered while films are imported into a library in memory")
    func imported() throws {
        try hold { library, wait in try library.importFilms { _ in wait() } }
    }

    @Test("requests are answered while a library in memory is searched")
    func searched() throws {
        try hold { library, wait in
            try library.forEach { _ throws(FilmLibraryError) in
                wait()
                return true
            }
        }
    }
}
