import Foundation
import HTTPSemantics
import HTTPServer
import Synchronization
import SystemSupport
import TestSupport

/// An origin of distinct posters: one poster followed by the number in the request's path, which decoders ignore. Its
/// answers are fresh for an hour.
final class PosterOrigin: HTTPHandler {
    private let poster: [UInt8]
    private let served = Atomic<Int>(0)

    /// - Parameter path: the poster's path.
    init(path: String) throws { poster = [UInt8](try Data(contentsOf: URL(filePath: path))) }

    /// The number of answered requests.
    var requests: Int { served.load(ordering: .relaxed) }

    func admit(_ head: RequestHead, from peer: Peer) -> Admission {
        served.add(1, ordering: .relaxed)
        return .answer(
            HTTPResponse(
                status: .ok, fields: ["Content-Type": "image/jpeg", "Cache-Control": "max-age=3600"],
                body: .bytes(poster + Array(head.target.utf8))))
    }

    /// Starts a server of the origin on a port of this machine.
    static func start(path: String) throws -> (origin: PosterOrigin, server: HTTPServer, port: UInt16) {
        let origin = try PosterOrigin(path: path)
        let server = try HTTPServer(configuration: HTTPServer.Configuration(), handler: origin)
        try server.start()
        guard let port = server.ports.compactMap(\.self).first else {
            throw BenchmarkFailure(description: "the origin has no port")
        }
        return (origin, server, port)
    }
}

/// The poster of the picture benchmarks.
let benchmarkPoster = "sample-data/posters/a-page-of-madness.jpg"

/// The target of a request for one of the origin's posters by a recipe.
func pictureTarget(_ number: Int, _ recipe: String, originPort: UInt16) -> String {
    "/image/-/\(recipe)/" + Base64URL.encode("http://127.0.0.1:\(originPort)/\(number).jpg".utf8)
}

/// One answer in a load test.
struct LoadSample: Sendable {
    let status: Int
    /// From sending the request to the last byte of the answer.
    let time: Duration
}

/// Requests from several clients at once, each with its own connection.
struct PictureLoad: Sendable {
    let port: UInt16
    let clients: Int
    /// Requests a second in all, sent even if earlier ones are unanswered, as long as a client is free. Nil sends as
    /// fast as the answers come, with a thread for each client. At a fixed rate one thread sends all requests, because
    /// it shares the processors with the service.
    var rate: Double?

    /// Sends requests for some seconds and returns their answers. A request without an answer has the status 0.
    /// - Parameter target: the target of the request with this number, from 0.
    func run(seconds: Double, target: @escaping @Sendable (Int) -> String) async -> [LoadSample] {
        let (start, next, port) = (ContinuousClock.now, Next(), port)
        let end = start + .seconds(seconds)
        if let rate {
            let thread = BlockingThreads(count: 1, name: "bench-client")
            // Ignored: without a thread there are no samples.
            let samples = try? await thread.run { self.atRate(rate, start, end, target) }
            return samples ?? []
        }
        let threads = BlockingThreads(count: clients, name: "bench-client")
        return await withTaskGroup(of: [LoadSample].self) { group in
            for _ in 0..<clients {
                group.addTask {
                    // Ignored: without a thread there are no samples.
                    let samples = try? await threads.run { Self.client(port, end, next, target) }
                    return samples ?? []
                }
            }
            var all: [LoadSample] = []
            for await samples in group { all += samples }
            return all
        }
    }

    private final class Next: Sendable {
        private let number = Atomic<Int>(0)
        func take() -> Int { number.add(1, ordering: .relaxed).oldValue }
    }

    private static func client(
        _ port: UInt16, _ end: ContinuousClock.Instant, _ next: Next,
        _ target: @Sendable (Int) -> String
    ) -> [LoadSample] {
        var samples: [LoadSample] = []
        var connection: RawClient?
        while ContinuousClock.now < end {
            let number = next.take()
            let begin = ContinuousClock.now
            var status = 0
            do {
                let client = try connection ?? RawClient(port: port)
                connection = client
                let answer = try client.get(target(number))
                status = answer.status
                if answer.fields["connection"] == "close" { connection = nil }
            } catch {
                connection = nil
            }
            samples.append(LoadSample(status: status, time: begin.duration(to: .now)))
        }
        return samples
    }

    /// The pause between two checks for answers, in microseconds; measured times are too long by that much. Checking at
    /// every answer used more processor time than the service needed to refuse a request.
    private static let pause: UInt32 = 2000

    /// Sends each request at its time, and collects the answers.
    private func atRate(
        _ rate: Double, _ start: ContinuousClock.Instant, _ end: ContinuousClock.Instant,
        _ target: (Int) -> String
    ) -> [LoadSample] {
        var samples: [LoadSample] = []
        var idle: [RawClient] = []
        var busy: [(client: RawClient, begin: ContinuousClock.Instant)] = []
        var number = 0
        var due = start
        while due < end || !busy.isEmpty {
            while due < end, due <= .now, busy.count < clients {
                let begin = ContinuousClock.now
                // Clients take turns, so that none is idle until the service closes its connection.
                let waiting = idle.isEmpty ? nil : idle.removeFirst()
                // Ignored: a request without a connection is a sample of status 0.
                if let client = waiting ?? (try? RawClient(port: port)) {
                    client.send("GET \(target(number)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    busy.append((client, begin))
                } else {
                    samples.append(LoadSample(status: 0, time: .zero))
                }
                number += 1
                due = start + .seconds(Double(number) / rate)
            }
            usleep(Self.pause)
            let isReady = Polling.ready(busy.map { ($0.client.descriptor, POLLIN) }, until: .now)
            for index in isReady.indices.reversed() where isReady[index] {
                let (client, begin) = busy.remove(at: index)
                // Ignored: a missing answer is a sample of status 0.
                let answer = try? client.answer()
                if let answer, answer.fields["connection"] != "close" { idle.append(client) }
                samples.append(LoadSample(status: answer?.status ?? 0, time: begin.duration(to: .now)))
            }
        }
        return samples
    }
}

extension [LoadSample] {
    /// The time within which this share of the answers came, in milliseconds; 0 without answers.
    func milliseconds(_ part: Double) -> Double {
        let times = map { $0.time / .milliseconds(1) }.sorted()
        return times.isEmpty ? 0 : times[Swift.min(times.count - 1, Int(Double(times.count) * part))]
    }

    func with(_ status: Int) -> [LoadSample] { filter { $0.status == status } }
}
