import Foundation
import Glibc
import SystemSupport
import TestSupport

/// Tests that a library loses no writes. First 8 clients make 200 edits each, and every edit must count once. Then come
/// `--kills` rounds (300). Each round kills the service at a random moment while four clients write. Afterwards the
/// library must open, and every write that was answered 2xx must be in it.
func libraryServiceBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let scratch = try ScratchFolder()
    let library = scratch.path + "/films.db"
    try makeLibrary(library, in: scratch)
    let (clients, edits) = (8, 200)
    let counted = try await editAtOnce(library, clients: clients, edits: edits)
    let rounds = options.number("kills", default: 300)
    var outcome = KillOutcome()
    for round in 0..<rounds { try await outcome.add(killedWrites(library, round: round)) }
    return [
        BenchmarkResult(
            name: "\(clients) clients, \(edits) edits each: edits that count", unit: "edits",
            ours: Double(counted), exactly: Double(clients * edits)),
        BenchmarkResult(
            name: "\(rounds) kills: writes that were answered and are lost", unit: "writes",
            ours: Double(outcome.lost), exactly: 0),
        BenchmarkResult(name: "writes that were answered", unit: "writes", ours: Double(outcome.answered)),
        BenchmarkResult(
            name: "libraries that did not open, or are damaged", unit: "libraries",
            ours: Double(outcome.damaged), exactly: 0),
    ]
}

private struct KillOutcome {
    var answered = 0
    var lost = 0
    var damaged = 0

    mutating func add(_ other: KillOutcome) {
        answered += other.answered
        lost += other.lost
        damaged += other.damaged
    }
}

/// A library with one film, `counter`.
private func makeLibrary(_ path: String, in scratch: ScratchFolder) throws {
    let source = scratch.path + "/films.json"
    try Data(#"[{"id": "counter", "title": "Counter", "count": 0}]"#.utf8).write(to: URL(filePath: source))
    try Subprocess.run(try Program.path("marquee"), ["import", source, path])
}

/// Each client repeatedly adds one to the film's counter, with the entity tag that it has read.
private func editAtOnce(_ library: String, clients: Int, edits: Int) async throws -> Int {
    let service = try ServiceProcess([library, "--writable", "--trust-local"])
    defer { service.stop() }
    let port = service.port
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<clients {
            group.addTask {
                try await BlockingThreads(count: 1).run { Result { try edit(port: port, times: edits) } }
                    .get()
            }
        }
        try await group.waitForAll()
    }
    return try count(of: try RawClient(port: port).get("/films/counter").text)
}

private func edit(port: UInt16, times: Int) throws {
    let client = try RawClient(port: port)
    var done = 0
    while done < times {
        let film = try client.get("/films/counter")
        let tag = film.fields["etag"] ?? ""
        let next = try count(of: film.text) + 1
        let body = #"{"count": \#(next)}"#
        client.send(
            "PATCH /films/counter HTTP/1.1\r\nHost: localhost\r\nIf-Match: \(tag)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        switch try client.answer().status {
        case 200: done += 1
        case 412: continue
        case let status: throw BenchmarkFailure(description: "an edit was answered \(status)")
        }
    }
}

private func count(of film: String) throws -> Int {
    guard let start = film.range(of: #""count":"#),
        let count = Int(film[start.upperBound...].prefix { $0.isNumber })
    else { throw BenchmarkFailure(description: "no count in \(film.prefix(200))") }
    return count
}

/// Kills the service while four clients write, and checks the library.
private func killedWrites(_ library: String, round: Int) async throws -> KillOutcome {
    let service = try ServiceProcess([library, "--writable", "--trust-local"])
    let port = service.port
    let answered = try await withThrowingTaskGroup(of: [(String, Int)].self) { group in
        for writer in 0..<4 {
            group.addTask {
                try await BlockingThreads(count: 1).run {
                    Result { try write(port: port, "w\(writer)", round) }
                }.get()
            }
        }
        group.addTask {
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<60_000)))
            service.kill()
            return []
        }
        return try await group.reduce(into: []) { $0 += $1 }
    }
    var outcome = KillOutcome()
    outcome.answered = answered.count
    let left = try ServiceProcess([library, "--writable", "--trust-local"])
    defer { left.stop() }
    let client = try RawClient(port: left.port)
    // Each film must have its last answered write, or a later one.
    for (id, number) in Dictionary(answered, uniquingKeysWith: max) {
        let film = try client.get("/films/\(id)")
        let isThere = try film.status == 200 && count(of: film.text) >= number
        if !isThere { outcome.lost += 1 }
    }
    if !isWhole(library) { outcome.damaged += 1 }
    return outcome
}

/// Writes until the service is gone. Returns the films and numbers that were answered 2xx.
private func write(port: UInt16, _ id: String, _ round: Int) throws -> [(String, Int)] {
    // Ignored: the service may be killed before a client connects.
    guard let client = try? RawClient(port: port) else { return [] }
    var answered: [(String, Int)] = []
    for number in (round * 1_000_000)... {
        let body = #"{"title": "\#(id)", "count": \#(number)}"#
        client.send(
            "PUT /films/\(id) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        // Ignored: the service has been killed.
        guard let answer = try? client.answer() else { break }
        guard (200...299).contains(answer.status) else {
            throw BenchmarkFailure(
                description: "a write was answered \(answer.status): \(answer.text.prefix(200))")
        }
        answered.append((id, number))
    }
    return answered
}

/// Whether SQLite's own program finds the library intact; true if it is not installed.
private func isWhole(_ library: String) -> Bool {
    guard
        // Ignored: the program may not be installed.
        let output = try? Subprocess.output(
            "sqlite3", [library, "PRAGMA integrity_check; PRAGMA foreign_key_check"])
    else { return !FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3") }
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) == "ok"
}
