import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

/// `MARQUEE_JOB_KILLS` is the number of kills (default: 10), `MARQUEE_JOB_SEED` the seed of their moments.
@Suite("marquee jobs: kills", .bounded)
struct JobKillTests {
    @Test(
        "killed after any number of answers and resumed, a job stores every file once and requests no finished one again"
    )
    func killed() async throws {
        let variables = ProcessInfo.processInfo.environment
        let kills = variables["MARQUEE_JOB_KILLS"].flatMap { Int($0) } ?? 10
        let seed = variables["MARQUEE_JOB_SEED"].flatMap { UInt64($0) } ?? 17
        var numbers = SeededNumbers(seed: seed)
        let (mostAnswers, perHost) = (10, 4)
        let allowances = AnswerAllowances()
        // More files than all killed runs may fetch, so that each is killed while it works.
        let fixture = try JobFixture(kills * mostAnswers + 20) { allowances.use(by: $0) }
        defer { for run in 0..<kills { allowances.release(run) } }
        func allow(_ run: Int) { allowances.allow(numbers.below(mostAnswers + 1), to: run) }

        allow(0)
        let started = try await fixture.detach("night", "--per-host", "\(perHost)", "--header", "X-Run: 0")
        #expect(started.status == 0, "\(started.errorText)")
        let job = try fixture.jobs.job("night")
        /// The files with a result after each run, and the cached files, with or without a result.
        var (finished, cached): ([Set<String>], [Set<String>]) = ([], [])
        for kill in 0..<kills {
            // The first requests without an answer pick the moment: up to three files are on their way or being stored.
            try await allowances.held(of: kill).wait(for: 1 + numbers.below(perHost))
            let process = try #require(try job.status.process, "kill \(kill): the job has already ended")
            #expect(Glibc.kill(process, SIGKILL) == 0)
            #expect(await job.completion() == nil)
            allowances.release(kill)
            #expect(try job.status.state == .stopped)
            finished.append(Set(try fixture.finished("night")))
            cached.append(try await fixture.cached())
            #expect(finished[kill].isSubset(of: cached[kill]), "kill \(kill)")
            if kill + 1 < kills {
                allow(kill + 1)
            } else {
                allowances.allow(fixture.count, to: kills)
            }
            let resumed = try await fixture.run("jobs", "resume", "night", "--header", "X-Run: \(kill + 1)")
            #expect(resumed.status == 0, "kill \(kill): \(resumed.errorText)")
        }
        #expect(await job.completion() == 0)

        let requests = fixture.allRequests
        #expect(Set(requests).count == requests.count, "a file was requested twice in one run")
        let again = requests.filter { $0.run > 0 && cached[$0.run - 1].contains($0.path) }
        #expect(again.isEmpty, "finished files were requested again: \(again)")
        let all = try fixture.finished("night")
        #expect(all.count == fixture.count && Set(all).count == fixture.count)
        #expect(try await fixture.cached().count == fixture.count)
        print(
            "\(kills) kills, seed \(seed): \(cached.last?.count ?? 0) of \(fixture.count) files before the last, "
                + "\(finished.last?.count ?? 0) with a result, \(requests.count - fixture.count) requests were cut and repeated"
        )
    }

    @Test("a large partial file is resumed: its bytes on disk are not fetched again, unless they are damaged")
    func resumedTransfer() async throws {
        let body = (0..<500_000).map { "\($0 + 1_000_000)\n" }.joined()
        let fields = "Content-Type: text/plain\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\n"
        let origin = try ScriptedOrigin { connection in
            if connection == 0 {
                let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
                return [.readHead, .sendBytes(Array((head + body).utf8.prefix(2_000_000))), .awaitClose]
            }
            return [
                .respond { head, _ in
                    guard let start = Self.rangeStart(head) else { return "" }
                    let rest = String(decoding: body.utf8.dropFirst(start), as: UTF8.self)
                    return "HTTP/1.1 206 Partial Content\r\n\(fields)"
                        + "Content-Range: bytes \(start)-\(body.utf8.count - 1)/\(body.utf8.count)\r\n"
                        + "Content-Length: \(rest.utf8.count)\r\n\r\n" + rest
                }
            ]
        }
        let fixture = try JobFixture(1)
        try fixture.writeList([origin.url("/a")])
        #expect(try await fixture.detach("night").status == 0)
        let parts = fixture.home.file(".cache/marquee/partial")
        try await eventually {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: parts)) ?? []
            return try names.contains { try FileCalls().status(ofPath: parts + "/" + $0).size >= 1_500_000 }
        }
        let job = try fixture.jobs.job("night")
        #expect(Glibc.kill(try #require(try job.status.process), SIGKILL) == 0)
        #expect(await job.completion() == nil)
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: parts).first { !$0.hasSuffix(".sums") })
        var partial = try Data(contentsOf: URL(filePath: parts + "/" + name))
        partial[partial.count - 1] ^= 0xff
        try partial.write(to: URL(filePath: parts + "/" + name))
        let stopped = try await fixture.run("jobs", "attach", "night")
        #expect(
            stopped.status == 2 && stopped.text == "0 fetched (0 bytes), 0 already cached, 1 not tried\n")
        #expect(
            stopped.errorText
                == "marquee: job night was stopped before its end; continue with marquee jobs resume night\n")
        #expect(try await fixture.run("jobs", "resume", "night").status == 0)
        #expect(await job.completion() == 0)
        #expect(origin.heads.count == 2)
        // Lost are the block that was being written, the one that was not complete, and the file's own header.
        let start = origin.heads.last.flatMap(Self.rangeStart) ?? 0
        #expect(partial.count - start < 2 * 65_536 + 1_024)
        let attached = try await fixture.run("jobs", "attach", "night")
        #expect(attached.text.contains("4000000 bytes  resumed"), "\(attached.text)")
        let cached = try await fixture.run("--offline", "fetch", "-o", "-", origin.url("/a").absoluteString)
        #expect(cached.status == 0 && cached.output == Array(body.utf8))
    }

    /// The start of the range in a request.
    private static func rangeStart(_ head: String) -> Int? {
        head.firstRange(of: "bytes=").flatMap { Int(head[$0.upperBound...].prefix { $0.isNumber }) }
    }
}
