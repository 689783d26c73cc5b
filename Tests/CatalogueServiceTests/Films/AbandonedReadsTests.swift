import FilmSources
import Films
import Foundation
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService
@testable import HTTPServer

/// A film service behind sockets, whose rendering threads can be held.
private final class HeldService {
    let folder: TemporaryFolder
    let films: FilmService
    let server: HTTPServer
    let gate = Gate()
    private let held = Tally()

    init(configure: (inout HTTPServer.Configuration) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        let library = try FilmLibrary(path: folder.file("films.db"), access: .creating)
        for number in 1...3 {
            let film = #"{"title":"Film \#(number)"}"#
            _ = try library.insert(
                FilmDocument(json: JSONText(parsing: Array(film.utf8))), id: "film-\(number)")
        }
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = true
        configuration.writers = WriteAccess(trustsLocal: true)
        films = FilmService(library: library, configuration: configuration)
        var settings = HTTPServer.Configuration()
        configure(&settings)
        server = try HTTPServer(configuration: settings, handler: films)
        try server.start()
    }

    deinit { server.stop() }

    /// Holds both threads that render, until the gate opens.
    func hold() async throws {
        for number in 1...2 {
            let head = try FilmClient.head("GET", "/held", [:], nil)
            films.answers.render(CacheKey(id: "held \(number)"), 0, for: PendingAnswer { _ in }, head) {
                [held, gate] in
                held.add()
                gate.wait()
                return KeptAnswer(.plain(.ok))
            }
        }
        try await held.wait(for: 2)
    }

    func client() throws -> RawClient { try RawClient(port: server.ports[0] ?? 0, owner: self) }

    /// The kept answer to a read of a client of these tests.
    func kept(_ target: String) throws -> KeptAnswer? {
        let head = try RequestHead(parsing: Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n".utf8)[...])
        return films.answers.answer(
            films.answerKey(head, PageAccess(role: .admin, hasLogin: true)), try films.library.state)
    }

    func connections(_ count: Int) async throws {
        try await eventually { server.statistics.connectionsNow == count }
    }
}

@Suite("reads that nobody waits for", .bounded, .ownThread)
struct AbandonedReadsTests {
    private static func read(_ target: String) -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
    }

    @Test("a search whose client has gone leaves the queue, and is not made")
    func gone() async throws {
        let service = try HeldService()
        try await service.hold()
        do {
            let gone = try (0..<50).map { _ in try service.client() }
            for (number, client) in gone.enumerated() { client.send(Self.read("/films?q=gone\(number)")) }
            try await eventually { service.server.statistics.connectionsInAll == 50 }
        }
        try await service.connections(0)
        let last = try service.client()
        last.send(Self.read("/films?q=film"))
        service.gate.open()
        #expect(try last.answer().status == 200)
        #expect(try service.kept("/films?q=film") != nil)
        for number in 0..<50 { #expect(try service.kept("/films?q=gone\(number)") == nil) }
    }

    @Test("a search is made for the client that still waits; one that all have left can be asked for again")
    func shared() async throws {
        let service = try HeldService()
        try await service.hold()
        let stays = try service.client()
        do {
            let gone = try (0..<4).map { _ in try service.client() }
            for (number, client) in gone.enumerated() {
                client.send(Self.read(number < 2 ? "/films?q=shared" : "/films?q=left"))
            }
            stays.send(Self.read("/films?q=shared"))
            try await eventually { service.server.statistics.connectionsInAll == 5 }
        }
        try await service.connections(1)
        let again = try service.client()
        again.send(Self.read("/films?q=left"))
        service.gate.open()
        #expect(try stays.answer().status == 200 && again.answer().status == 200)
    }

    @Test("a read that has waited for the queue time gets 503 with Retry-After, and is not made")
    func late() async throws {
        let service = try HeldService { $0.queueTime = .milliseconds(20) }
        try await service.hold()
        let client = try service.client()
        let answer = try client.get("/films?q=late")
        #expect(answer.status == 503 && answer.fields["retry-after"] != nil)
        service.gate.open()
        #expect(try client.getPatiently("/films?q=film").status == 200)
        #expect(try service.kept("/films?q=late") == nil)
    }

    @Test("a rendering that was given up is not delivered to those who ask later")
    func cutShort() async throws {
        let answers = KeptAnswers(limit: 1 << 20)
        let head = try FilmClient.head("GET", "/a", [:], nil)
        let (began, gate, key) = (Tally(), Gate(), CacheKey(id: "a"))
        let texts = Shared<[String]>([])
        let ended = Tally()
        func ask(_ name: String) -> PendingAnswer {
            let pending = PendingAnswer { answer in
                texts.change { $0.append(answer.fields["name"] ?? "") }
                ended.add()
            }
            answers.render(key, 0, for: pending, head) {
                began.add()
                gate.wait()
                return KeptAnswer(HTTPResponse(status: .ok, fields: ["Name": name]))
            }
            return pending
        }
        let first = ask("cut short")
        try await began.wait(for: 1)
        first.abandon()
        let (second, third) = (ask("whole"), ask("joined"))
        try await began.wait(for: 2)
        gate.open()
        try await ended.wait(for: 2)
        #expect(texts.value == ["whole", "whole"])
        withExtendedLifetime((second, third)) {}
    }

    @Test("reads that need a request thread do not wait for writes that wait for a locked library")
    func locked() async throws {
        let service = try HeldService { $0.eventThreads = 1 }
        let other = try FilmLibrary(path: service.folder.file("films.db"), access: .writing)
        let (locks, unlock) = (Gate(), Gate())
        let writing = Task {
            try await BlockingThreads(count: 1).run {
                Result {
                    try other.importFilms { _ in
                        locks.open()
                        unlock.wait()
                    }
                }
            }.get()
        }
        try await BlockingThreads(count: 1).run { locks.wait() }
        let film = #"{"title":"Other"}"#
        let writers = try (0..<16).map { _ in try service.client() }
        for writer in writers {
            writer.send(
                "PUT /films/film-1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(film.utf8.count)\r\n\r\n\(film)")
        }
        let reader = try service.client()
        reader.send(Self.read("/films/film-1/ratings/me"))
        #expect(try reader.answer().status == 404)
        // A write that waits for 10 s fails.
        #expect(!Polling.ready(writers.map { ($0.descriptor, POLLIN) }, until: .now).contains(true))
        unlock.open()
        try await writing.value
        for writer in writers { #expect(try writer.answer().status == 200) }
    }
}
