import FilmSources
import FoundationEssentials
import ServiceOperations
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService
@testable import HTTPServer

@Suite("FolderSite", .bounded, .ownThread)
struct FolderSiteTests {
    /// A folder whose catalogue is parsed only while the test lets it.
    private final class SlowSite: Sendable {
        let folder: TemporaryFolder
        /// Parses begun.
        let begun = Tally()
        /// The next parse waits for this gate.
        private let gate = Shared<Gate?>(nil)
        /// The reported failures.
        let reports = Shared<[String]>([])
        private let readiness = Readiness()
        let site: FolderSite

        var notes: [String] { readiness.notes }

        init() throws {
            let (begun, gate, reports) = (begun, gate, reports)
            var configuration = CatalogueService.Configuration()
            configuration.readiness = readiness
            configuration.reportFailure = { error in reports.change { $0.append("\(error)") } }
            folder = try TemporaryFolder()
            let films = FolderFilms(try CatalogueFolder(path: folder.path)) { bytes, name in
                let gate = gate.change { $0.take() }
                begun.add()
                gate?.wait()
                return try FilmLibrary.inMemory(parsing: bytes, path: name)
            }
            site = FolderSite(films, pictures: nil, configuration: configuration)
        }

        /// A gate for which the next parse waits.
        func holdNext() -> Gate {
            let gate = Gate()
            self.gate.change { $0 = gate }
            return gate
        }

        /// Replaces the catalogue by one with this film, or by these bytes.
        func write(film: String) throws { try write(#"[{"id": "\#(film)", "title": "T"}]"#) }

        func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: folder.file("movies.json")), options: .atomic)
        }

        func answer() throws -> FilmClient.Answer {
            let response: HTTPResponse
            switch try admit("/films") {
            case .answer(let answer): response = answer
            case .later(let start): response = FilmClient.answer(of: start)
            case .handle(_, let respond): response = respond(.none)
            }
            return FilmClient.Answer(response: response, isEarly: false)
        }

        func admit(_ target: String) throws -> Admission {
            site.admit(try site.gate.call(FilmClient.head("GET", target, [:], nil), from: FilmClient.local))
        }

        /// The answer at once; nil if the request needs a thread.
        func known(_ target: String) throws -> HTTPResponse? {
            guard case .answer(let response) = try admit(target) else { return nil }
            return response
        }

        /// A request on a thread of its own.
        func laterAnswer() -> Task<FilmClient.Answer, any Error> {
            Task { [self] in
                try await BlockingThreads(count: 1).run { Result { try self.answer() } }.get()
            }
        }
    }

    @Test("while one request parses a changed catalogue, the others are answered with the old one")
    func change() async throws {
        let slow = try SlowSite()
        try slow.write(film: "old")
        #expect(try slow.answer().ids == ["old"])
        try slow.write(film: "new")
        let gate = slow.holdNext()
        let first = slow.laterAnswer()
        try await slow.begun.wait(for: 2)
        for _ in 0..<3 { #expect(try slow.answer().ids == ["old"]) }
        gate.open()
        #expect(try await first.value.ids == ["new"])
        #expect(try slow.answer().ids == ["new"])
        #expect(slow.begun.count == 2)
    }

    @Test(
        "once the films have been read, short answers need no thread; a search does, and so does a new catalogue"
    )
    func known() throws {
        let slow = try SlowSite()
        try slow.write(film: "old")
        #expect(try slow.known("/films/old") == nil)
        #expect(try slow.answer().status == 200)
        #expect(try slow.known("/films/old")?.status == .ok)
        #expect(try slow.known("/films/new")?.status == .notFound)
        #expect(try slow.known("/films?q=T") == nil)
        try slow.write(film: "new")
        #expect(try slow.known("/films/new") == nil)
        #expect(slow.begun.count == 1)
    }

    @Test("a request for a poster leaves the queue with its client")
    func abandonedPoster() async throws {
        let slow = try SlowSite()
        try slow.write(film: "a")
        let gate = slow.holdNext()
        func ask() throws -> PendingAnswer {
            let pending = PendingAnswer { _ in }
            if case .later(let start) = try slow.admit("/films/a/poster") { start(pending) }
            return pending
        }
        // Both threads: one parses the catalogue, and one waits for it.
        let first = [try ask(), try ask()]
        try await slow.begun.wait(for: 1)
        weak var gone: PendingAnswer?
        do {
            let pending = try ask()
            gone = pending
            pending.abandon()
        }
        #expect(gone == nil)
        gate.open()
        withExtendedLifetime(first) {}
    }

    @Test("requests that come before the first parse has ended share it")
    func first() async throws {
        let slow = try SlowSite()
        try slow.write(film: "a")
        let gate = slow.holdNext()
        let answers = (0..<3).map { _ in slow.laterAnswer() }
        try await slow.begun.wait(for: 1)
        gate.open()
        for answer in answers { #expect(try await answer.value.ids == ["a"]) }
        #expect(slow.begun.count == 1)
    }

    @Test("a catalogue that changes while it is parsed is parsed again")
    func changeMeanwhile() async throws {
        let slow = try SlowSite()
        try slow.write(film: "a")
        let gate = slow.holdNext()
        let first = slow.laterAnswer()
        try await slow.begun.wait(for: 1)
        try slow.write(film: "b")
        gate.open()
        #expect(try await first.value.ids == ["a"])
        #expect(try slow.answer().ids == ["b"])
    }

    @Test(
        "while a changed catalogue cannot be parsed, the last good films are served, and the operator is told once"
    )
    func broken() throws {
        let slow = try SlowSite()
        try slow.write(film: "old")
        #expect(try slow.answer().status == 200)
        for text in ["[{", "[{\"id\": ", "{}"] {
            try slow.write(text)
            #expect(try slow.answer().ids == ["old"])
            // Once it is known to be broken, no request needs to parse it.
            #expect(try slow.known("/films/old")?.status == .ok)
        }
        #expect(slow.begun.count == 4)
        let note = try #require(slow.notes.first)
        #expect(slow.notes.count == 1 && note.hasPrefix("movies.json: expected an object with an array"))
        #expect(note.hasSuffix("; the last good films are served until it is repaired"))
        #expect(slow.reports.value.count == 1)
        #expect(slow.reports.value.first?.hasPrefix("movies.json: line 1, column 3: not JSON") == true)
        try slow.write(film: "new")
        #expect(try slow.answer().ids == ["new"])
        #expect(slow.notes.isEmpty)
        try slow.write("[{")
        #expect(try slow.answer().ids == ["new"])
        #expect(slow.reports.value.count == 2)
    }

    @Test("a good version that is moved back, and a broken one that is removed, end the fault")
    func mended() throws {
        let slow = try SlowSite()
        try slow.write(film: "old")
        #expect(try slow.answer().status == 200)
        let (path, kept) = (slow.folder.file("movies.json"), slow.folder.file("kept"))
        try FileManager.default.moveItem(atPath: path, toPath: kept)
        try slow.write("[{")
        slow.site.refresh()
        #expect(slow.notes.count == 1)
        try FileManager.default.removeItem(atPath: path)
        slow.site.refresh()
        #expect(slow.notes.isEmpty)
        #expect(try slow.answer().status == 404)
        try slow.write("[{")
        slow.site.refresh()
        #expect(slow.notes.count == 1)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: kept, toPath: path)
        slow.site.refresh()
        #expect(slow.notes.isEmpty)
        #expect(try slow.answer().ids == ["old"])
    }

    @Test(
        "a catalogue that never could be parsed is refused, also while it is parsed again, until it changes")
    func unreadable() async throws {
        let slow = try SlowSite()
        try slow.write("[{")
        #expect(try slow.answer().status == 503)
        let gate = slow.holdNext()
        let answers = (0..<2).map { _ in slow.laterAnswer() }
        try await slow.begun.wait(for: 2)
        gate.open()
        for answer in answers { #expect(try await answer.value.status == 503) }
        #expect(slow.reports.value.count == 1)
        #expect(slow.notes.first?.hasSuffix("; no films are served until it is repaired") == true)
        try slow.write(film: "new")
        #expect(try slow.answer().ids == ["new"])
        #expect(slow.notes.isEmpty)
    }

    @Test("a catalogue is parsed, and parsed again when it changes, without a request")
    func refresh() throws {
        let slow = try SlowSite()
        try slow.write(film: "old")
        slow.site.refresh()
        #expect(slow.begun.count == 1)
        #expect(try slow.known("/films/old")?.status == .ok)
        try slow.write("[{")
        slow.site.refresh()
        #expect(slow.notes.count == 1)
        try slow.write(film: "new")
        slow.site.refresh()
        #expect(slow.notes.isEmpty)
        #expect(try slow.known("/films/new")?.status == .ok)
    }

    @Test("the operator is told once of films that are left out, and of a change only what is new")
    func problems() throws {
        let slow = try SlowSite()
        try slow.write(#"[{"id": "a", "title": "A"}, {"id": "b"}]"#)
        #expect(try slow.answer().ids == ["a"])
        #expect(slow.reports.value.count == 1)
        #expect(
            slow.reports.value.first?.hasPrefix("movies.json: ") == true
                && slow.reports.value.first?.hasSuffix("every film needs one; it is left out") == true,
            "\(slow.reports.value)")
        try slow.write(#"[{"id": "a", "title": "A"}, {"id": "b"}, {"id": "a", "title": "C"}]"#)
        #expect(try slow.answer().ids == ["a"])
        #expect(slow.reports.value.count == 2)
        #expect(slow.reports.value.last?.contains("the id \"a\" is used twice") == true)
        let many = (0..<9).map { #"{"id": "m\#($0)"}"# }.joined(separator: ",")
        try slow.write("[\(many)]")
        #expect(try slow.answer().status == 200)
        #expect(slow.reports.value.count == 2 + 6)
        #expect(slow.reports.value.last?.hasPrefix("movies.json: 4 more films are left out") == true)
    }

    @Test("what is wrong with files of facts in a folder of films is reported without a request")
    func facts() throws {
        let folder = try TemporaryFolder()
        let film = folder.file("Faust (1926)")
        try FileManager.default.createDirectory(atPath: film, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: film + "/faust.mkv"))
        try Data("<album/>".utf8).write(to: URL(filePath: film + "/faust.nfo"))
        let reports = Shared<[String]>([])
        var configuration = CatalogueService.Configuration()
        configuration.reportFailure = { error in reports.change { $0.append("\(error)") } }
        let films = FolderFilms(try CatalogueFolder(path: folder.path), files: FilmFolder(folder.path))
        let site = FolderSite(films, pictures: nil, configuration: configuration)
        for _ in 0..<2 {
            site.refresh()
            let report = try #require(reports.value.first)
            #expect(reports.value.count == 1)
            #expect(report.hasPrefix("\(folder.path): Faust (1926)/faust.nfo: "), "\(report)")
            #expect(report.hasSuffix("; the film has the name of its file"))
        }
    }
}
