import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer

extension OverSockets {
    @Suite("reads bodies", .bounded)
    struct Bodies {
        private func post(_ fields: String..., target: String = "/x") -> String {
            (["POST \(target) HTTP/1.1", "Host: x"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
        }

        @Test("a body that never becomes whole gives its memory back")
        func abandoned() throws {
            let memory = SharedBudget(limit: 10)
            var spool: BodySpool? = BodySpool(budget: memory, folder: "/tmp")
            #expect(spool?.append([1, 2, 3][...]) == true)
            #expect(!memory.take(8))
            spool = nil
            #expect(memory.take(10))
        }

        @Test("a body reaches the handler, by length and in chunks, and the connection stays open")
        func whole() throws {
            let client = try RunningServer().client()
            for _ in 0..<3 {
                client.send(post("Content-Length: 4") + "body")
                #expect(try client.answer().text == "POST /x body")
                client.send(post("Transfer-Encoding: chunked") + "2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n")
                #expect(try client.answer().text == "POST /x body")
                client.send(post("Content-Length: 0"))
                let answer = try client.answer()
                #expect(answer.text == "POST /x ")
                #expect(answer.fields["body"] == "none")
            }
        }

        @Test("pipelined requests with bodies are answered in order")
        func pipelining() throws {
            let client = try RunningServer().client()
            var requests = ""
            for number in 0..<50 {
                requests += post("Content-Length: \("\(number)".utf8.count)") + "\(number)"
            }
            client.send(requests)
            for number in 0..<50 { #expect(try client.answer().text == "POST /x \(number)") }
        }

        @Test("a long body goes to an unnamed file, byte for byte")
        func spool() throws {
            let folder = try TemporaryFolder()
            let client = try RunningServer { $0.temporaryFolder = folder.path }.client()
            let body = variedBytes(300_000)
            client.send(Array(post("Content-Length: \(body.count)").utf8) + body)
            let answer = try client.answer()
            #expect(answer.fields["body"] == "file")
            #expect(answer.body == Array("POST /x ".utf8) + body)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }

        @Test("a body without room on disk is answered 507, and one that cannot be stored 503")
        func noRoom() throws {
            let client = try RunningServer { $0.temporaryFolder = "/nowhere" }.client()
            client.send(post("Content-Length: 100000") + String(repeating: "x", count: 100_000))
            #expect(try client.answer().status == 503)
        }

        @Test("a full disk is answered 507, also after many pieces", arguments: [0, 3])
        func fullDisk(pieces: Int) throws {
            let written = Shared(0)
            let calls = FileCalls { kind in
                guard kind == .write else { return nil }
                written.change { $0 += 1 }
                return written.value > pieces ? .failure(ENOSPC) : nil
            }
            let client = try RunningServer(fileCalls: calls).client()
            let body = variedBytes(2 << 20)
            #expect(client.send(Array(post("Content-Length: \(body.count)").utf8) + body))
            #expect(try client.answer().status == 507)
        }

        @Test(
            "while one body waits for a slow disk, the same thread serves others, and reads no more of that body"
        )
        func slowDisk() async throws {
            let (gate, writing) = (Gate(), Tally())
            let calls = FileCalls { kind in
                if kind == .write {
                    writing.add()
                    gate.wait()
                }
                return nil
            }
            let running = try RunningServer(fileCalls: calls) { $0.eventThreads = 1 }
            defer { gate.open() }
            let slow = try running.client()
            let body = variedBytes(300_000)
            slow.send(Array(post("Content-Length: \(body.count)").utf8) + body)
            try await writing.wait(for: 1)
            let other = try running.client()
            other.send("GET /refused HTTP/1.1\r\nHost: x\r\n\r\n")
            try #require(Polling.ready([(other.descriptor, POLLIN)], until: .now + .seconds(30))[0])
            #expect(try other.answer().status == 403)
            // A body of a hundred megabytes does not fit into the buffers of two sockets.
            let long = try running.client()
            long.send(post("Content-Length: \(100 << 20)"))
            let part = [UInt8](repeating: 7, count: 1 << 20)
            var sent = 0
            while sent < 100 << 20,
                Polling.ready([(long.descriptor, POLLOUT)], until: .now + .milliseconds(200))[0]
            {
                let count = unsafe send(long.descriptor, part, part.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                sent += max(0, count)
            }
            #expect(sent < 100 << 20)
            gate.open()
            #expect(try slow.answer().body == Array("POST /x ".utf8) + body)
        }

        @Test("a client that leaves while its body is being stored gives its memory back")
        func leavesWhileStored() async throws {
            let (gate, writing) = (Gate(), Tally())
            let calls = FileCalls { kind in
                if kind == .write {
                    writing.add()
                    gate.wait()
                }
                return nil
            }
            let running = try RunningServer(fileCalls: calls)
            defer { gate.open() }
            var client: RawClient? = try running.client()
            client?.send(Array(post("Content-Length: 300000").utf8) + variedBytes(200_000))
            try await writing.wait(for: 1)
            client?.reset()
            client = nil
            try await eventually { running.server.statistics.connectionsNow == 0 }
            gate.open()
            try await eventually { running.server.context.bodyMemory.take(256 << 20) }
            #expect(try running.client().get("/a").status == 200)
        }

        @Test("a body above the handler's limit is answered 413, before it is read if it has a length")
        func tooLong() throws {
            let running = try RunningServer(EchoHandler(bodyLimit: 10))
            for start in [
                "Content-Length: 11", "Transfer-Encoding: chunked",
                "Content-Length: 11\r\nExpect: 100-continue",
            ] {
                let client = try running.client()
                client.send(post(start) + (start.hasPrefix("T") ? "b\r\n01234567890" : ""))
                let answer = try client.answer()
                #expect(answer.status == 413)
                #expect(answer.fields["connection"] == "close")
                #expect(client.isEnded())
            }
        }

        @Test("a client that waits for 100 Continue gets it once, or the final answer")
        func expectContinue() throws {
            let running = try RunningServer()
            let client = try running.client()
            client.send(post("Content-Length: 4", "Expect: 100-continue"))
            #expect(try client.answer(hasBody: false).status == 100)
            client.send("body")
            #expect(try client.answer().text == "POST /x body")
            // A client that did not wait gets no 100.
            client.send(post("Content-Length: 4", "Expect: 100-Continue") + "body")
            #expect(try client.answer().text == "POST /x body")
            client.send(post("Content-Length: 4", "Expect: 100-continue", target: "/refused"))
            let refused = try client.answer()
            #expect(refused.status == 403)
            #expect(refused.fields["connection"] == "close")
        }

        @Test("an unwanted body is read if it is short, and otherwise ends the connection")
        func unwanted() throws {
            let running = try RunningServer()
            let client = try running.client()
            client.send(post("Content-Length: 4", target: "/refused") + "GET " + post("Content-Length: 0"))
            #expect(try client.answer().status == 403)
            #expect(try client.answer().text == "POST /x ")
            client.send(post("Content-Length: 100000", target: "/refused"))
            let answer = try client.answer()
            #expect(answer.status == 403)
            #expect(answer.fields["connection"] == "close")
        }

        /// Requests that are answered before their body, of twenty megabytes, is read.
        private static let earlyAnswers: [(start: String, status: Int)] = [
            ("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n", 403),
            (
                "POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\nExpect: 100-continue\r\n\r\n",
                403
            ),
            ("POST /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1312d00\r\n", 403),
            ("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n", 413),
            ("POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1312d00\r\n", 413),
            ("POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n", 200),
            ("POST /x HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 20000000\r\n\r\n", 417),
            ("POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
            ("POST /x HTTP/1.1\r\nHost: x\r\nCookie: \(String(repeating: "x", count: 20_000))\r\n\r\n", 431),
        ]

        /// Sends all of a request before it reads the answer, as nginx does.
        /// - Returns: the answer's status; nil if the connection was reset before.
        private func statusAfterSending(_ start: String, to running: RunningServer) throws -> Int? {
            let client = try running.client()
            // Not in an expectation, whose report would describe all the bytes.
            let isTaken = client.send(Array(start.utf8) + [UInt8](repeating: 0x78, count: 20_000_000))
            let status = isTaken ? try client.answer().status : nil
            client.finishSending()
            return client.isEnded() && !client.wasReset ? status : nil
        }

        @Test(
            "an answer before the body reaches a client that reads only after it has sent all of it",
            arguments: earlyAnswers)
        func early(start: String, status: Int) throws {
            let running = try RunningServer(EchoHandler(bodyLimit: 100_000))
            #expect(try statusAfterSending(start, to: running) == status)
        }

        @Test("so does the answer to a connection too many")
        func turnedAway() throws {
            let running = try RunningServer { $0.maximumConnections = 1 }
            let first = try running.client()
            #expect(try first.get("/a").status == 200)
            #expect(try statusAfterSending(post("Content-Length: 20000000"), to: running) == 503)
        }

        @Test("while 256 connections are read so, further ones end at once")
        func manyRefused() async throws {
            let running = try RunningServer()
            let request = post("Content-Length: 20000000", target: "/refused")
            let places = running.server.context.lingerPlaces
            #expect(places.take(256) && !places.take(1))
            #expect(try statusAfterSending(request, to: running) == nil)
            places.giveBack(256)
            #expect(try statusAfterSending(request, to: running) == 403)
            try await eventually { places.take(256) }
        }

        @Test("of an endless body no more than 64 MiB are read")
        func endless() throws {
            let client = try RunningServer().client()
            client.send(post("Transfer-Encoding: chunked", target: "/refused") + "fffffffffff\r\n")
            let part = [UInt8](repeating: 7, count: 1 << 20)
            var sent = 0
            while sent < 200, client.send(part) { sent += 1 }
            // The buffers of the sockets hold some more.
            #expect((64..<100).contains(sent))
        }

        @Test("a body that arrives too slowly is answered 408")
        func slow() throws {
            let running = try RunningServer {
                $0.bodyTimeout = .milliseconds(60)
                $0.minimumBodyRate = 100
            }
            let client = try running.client()
            client.send(post("Content-Length: 10") + "half")
            #expect(try client.answer().status == 408)
            #expect(client.isEnded())
        }

        @Test("the time limit of a body grows with its received bytes")
        func deadline() throws {
            var configuration = HTTPServer.Configuration()
            configuration.bodyTimeout = .seconds(20)
            configuration.minimumBodyRate = 500
            let head = try RequestHead(
                parsing: Array("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000".utf8)[...])
            let start = ContinuousClock.now
            var request = try IncomingRequest(
                head: head, purpose: .discarding(.plain(.ok)), limit: 9000, start: start)
            #expect(request.deadline(configuration) == start + .seconds(20))
            var input = InputBuffer()
            input.append([UInt8](repeating: 0, count: 1500)[...])
            _ = request.take(from: &input)
            #expect(request.deadline(configuration) == start + .seconds(23))
        }

        @Test("a body with malformed chunks is answered 400, and the connection ends")
        func malformed() throws {
            let client = try RunningServer().client()
            client.send(post("Transfer-Encoding: chunked") + "zz\r\n")
            #expect(try client.answer().status == 400)
            #expect(client.isEnded())
        }

        @Test("a request whose client leaves during the body is not handled")
        func leaves() async throws {
            let handled = Tally()
            let running = try RunningServer(EchoHandler(whenHandled: { handled.add() }))
            let client = try running.client()
            client.send(post("Content-Length: 10") + "half")
            client.finishSending()
            #expect(client.isEnded())
            #expect(handled.count == 0)
        }

        @Test("a client that has closed its sending side still gets its answer")
        func halfClosed() throws {
            let client = try RunningServer().client()
            client.send(post("Content-Length: 4") + "body")
            client.finishSending()
            #expect(try client.answer().text == "POST /x body")
            #expect(client.isEnded())
        }
    }
}
