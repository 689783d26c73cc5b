import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

@Suite("Ratings", .bounded, .ownThread)
struct FilmRatingTests {
    private func client() throws -> FilmClient {
        let client = try FilmClient()
        #expect(try client.send("POST", "/films", #"{"id":"a","title":"A","score":5}"#).status == 201)
        return client
    }

    @Test("of eight equal votes at once one is new")
    func atOnce() throws {
        let client = try client()
        let (reached, gate, ended) = (Gate(), Gate(), Gate())
        let library = client.library
        try BlockingThreads.startThread {
            // Ignored: it only holds the writers up.
            try? library.importFilms { _ in
                reached.open()
                gate.wait()
            }
            ended.open()
        }
        reached.wait()
        let (begun, statuses) = (Tally(), Shared<[Int]>([]))
        for _ in 0..<8 {
            try BlockingThreads.startThread {
                begun.add()
                // Ignored: a request that fails has no status below.
                let status = try? client.send("PUT", "/films/a/ratings/ann", #"{"value":8}"#).status
                statuses.change { $0.append(status ?? 0) }
            }
        }
        while begun.count < 8 { sched_yield() }
        gate.open()
        ended.wait()
        while statuses.value.count < 8 { sched_yield() }
        #expect(statuses.value.sorted() == [200, 200, 200, 200, 200, 200, 200, 201])
    }
}
