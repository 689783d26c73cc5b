import Films
import Glibc
import HTTPSemantics
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

    @Test("votes make the mean, count once for each rater, and can be withdrawn")
    func votes() throws {
        let client = try client()
        let first = try client.send("PUT", "/films/a/ratings/ann", #"{"value":8.5}"#)
        #expect(first.status == 201 && first.text == "{\"value\":8.5,\"rating\":8.5,\"votes\":1}\n")
        let again = try client.send("PUT", "/films/a/ratings/ann", #"{"value":6}"#)
        #expect(again.status == 200)
        let second = try client.send("PUT", "/films/a/ratings/Bob%20%C3%89", #"{"rating":{"value":9}}"#)
        #expect(second.text == "{\"value\":9,\"rating\":7.5,\"votes\":2}\n")
        #expect(try client.get("/films/a").film["rating"]?.text == "7.5")
        #expect(try client.get("/films/a").film["votes"]?.text == "2")
        #expect(try client.get("/films/a").film["score"]?.text == "5")
        #expect(try client.get("/films/a/ratings/ann").text == "{\"value\":6,\"rating\":7.5,\"votes\":2}\n")
        #expect(
            try client.get("/films/a/ratings/ann.xml").text.hasSuffix(
                "<rating><value>6</value><rating>7.5</rating><votes>2</votes></rating>\n"))
        #expect(try client.send("DELETE", "/films/a/ratings/ann").status == 204)
        #expect(try client.send("DELETE", "/films/a/ratings/ann").status == 404)
        #expect(try client.get("/films/a").film["rating"]?.text == "9")
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

    @Test("a vote is accepted in each kind of body")
    func bodies() throws {
        let client = try client()
        for (body, type) in [
            (#"{"value":8.5}"#, "application/json"),
            ("<rating><value>8.5</value></rating>", "application/xml"),
            ("value=8.5", "application/x-www-form-urlencoded"),
        ] {
            let answer = try client.send("PUT", "/films/a/ratings/\(type.count)", body, type: type)
            #expect(try answer.status == 201 && answer.film["value"]?.text == "8.5", "\(answer.text)")
        }
    }

    @Test("a vote is a number from 0 to 10")
    func badVotes() throws {
        let client = try client()
        for body in [
            #"{"value":10.1}"#, #"{"value":-1}"#, #"{"value":"8"}"#, "{}", #"{"value":null}"#, "8", "[]",
        ] {
            let answer = try client.send("PUT", "/films/a/ratings/ann", body)
            #expect(answer.status == 422 && answer.text.contains("a number from 0 to 10"), "\(body)")
        }
        for body in ["value=", "value=1&value=2", "value=nan", "value=11", "x=1", "value=eight"] {
            #expect(
                try client.send(
                    "PUT", "/films/a/ratings/ann", body, type: "application/x-www-form-urlencoded"
                ).status == 422, "\(body)")
        }
        #expect(try client.send("PUT", "/films/a/ratings/ann", "{").status == 400)
        #expect(try client.send("PUT", "/films/a/ratings/ann", "x", type: MultipartBody.type).status == 415)
        #expect(try client.send("PUT", "/films/none/ratings/ann", #"{"value":1}"#).status == 404)
        #expect(try client.get("/films/a/ratings/ann").status == 404)
    }
}
