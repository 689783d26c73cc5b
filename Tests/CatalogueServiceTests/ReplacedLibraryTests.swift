import FilmSources
import Films
import Foundation
import ServiceOperations
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

@Suite("A served library that is replaced", .bounded, .ownThread)
struct ReplacedLibraryTests {
    private let folder: TemporaryFolder
    private let path: String
    private let readiness = Readiness()
    private let reports = Shared<[String]>([])

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("films.db")
        try Self.make(path, "old")
    }

    private static func make(_ path: String, _ id: String) throws {
        let library = try FilmLibrary(path: path, access: .creating)
        _ = try library.insert(FilmDocument(json: JSONText(parsing: Array(#"{"title":"A"}"#.utf8))), id: id)
    }

    private func service() throws -> CatalogueService {
        var configuration = CatalogueService.Configuration()
        configuration.films.isWritable = true
        configuration.films.writers = WriteAccess(trustsLocal: true)
        configuration.readiness = readiness
        configuration.reportFailure = { [reports] error in reports.change { $0.append("\(error)") } }
        let service = try CatalogueService(.library(path: path), configuration: configuration)
        try service.start()
        return service
    }

    private func put(_ client: RawClient, _ id: String) throws -> RawClient.Answer {
        let body = #"{"title":"A"}"#
        client.send(
            "PUT /films/\(id) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return try client.answer()
    }

    @Test("writes go to the new file; while there is none they are 503, and reads are answered")
    func replaced() throws {
        let service = try service()
        defer { service.stop() }
        let client = try RawClient(port: service.port)
        #expect(try put(client, "newest").status == 201)
        try Self.make(folder.file("new.db"), "new")
        try FileManager.default.moveItem(atPath: path, toPath: folder.file("old.db"))
        let refused = try put(client, "lost")
        #expect(refused.status == 503 && refused.fields["retry-after"] == "5")
        #expect(refused.text.contains("the library's file is being replaced; the change is not stored"))
        #expect(try client.get("/films/newest").status == 200)
        try FileManager.default.moveItem(atPath: folder.file("new.db"), toPath: path)
        #expect(try put(client, "later").status == 201)
        #expect(try client.get("/films/newest").status == 404)
        #expect(service.libraryWrites?.failed == [.replaced: 1] && service.libraryWrites?.stored == 2)
        service.stop()
        let later = try FilmLibrary(path: path, access: .reading)
        #expect(try later.films(FilmQuery(limit: 9)).films.map(\.id) == ["new", "later"])
        let old = try FilmLibrary(path: folder.file("old.db"), access: .reading)
        #expect(try old.films(FilmQuery(limit: 9)).films.map(\.id) == ["old", "newest"])
    }

    @Test("without any request the service notices, says so in its health and once in the log")
    func noticed() async throws {
        let service = try service()
        defer { service.stop() }
        let client = try RawClient(port: service.port)
        #expect(try put(client, "newest").status == 201)
        try FileManager.default.moveItem(atPath: path, toPath: folder.file("old.db"))
        try await eventually { !readiness.notes.isEmpty }
        #expect(readiness.notes == ["\(path): the file is gone; put a library there"])
        #expect(reports.value == readiness.notes)
        // The moved file has all writes, although nobody asked.
        let old = try FilmLibrary(path: folder.file("old.db"), access: .reading)
        #expect(try old.film("newest") != nil)
        try FileManager.default.moveItem(atPath: folder.file("old.db"), toPath: path)
        try await eventually { readiness.notes.isEmpty }
        #expect(reports.value.count == 1)
        #expect(try put(client, "later").status == 201)
    }
}
