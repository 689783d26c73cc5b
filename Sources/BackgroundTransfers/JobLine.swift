import FoundationEssentials

/// A line of a job's results: one event as JSON.
///
///     {"process":4711,"started":1795400000.25}
///     {"waiting":"network"}
///     {"waiting":""}
///     {"result":{"index":0,"url":"https://example.org/a.png","outcome":"network","bytes":70,…}}
///     {"ended":1795400060.5,"status":0}
///
/// Each line is written in one call. Invalid lines are skipped: a kill or a full disk can leave half a line.
struct JobLine: Codable {
    private var started: Double?
    private var process: Int32?
    private var waiting: String?
    private var result: JobResult?
    private var ended: Double?
    private var status: Int32?

    init(_ event: JobEvent) {
        switch event {
        case .started(let process, let time): (self.process, started) = (process, time)
        case .waiting(let wait): waiting = wait?.rawValue ?? ""
        case .result(let result): self.result = result
        case .ended(let status, let time): (self.status, ended) = (status, time)
        case .stopped: break
        }
    }

    var event: JobEvent? {
        if let result { return .result(result) }
        if let started { return .started(process: process ?? 0, time: started) }
        if let ended, let status { return .ended(status: status, time: ended) }
        return waiting.map { .waiting(JobWait(rawValue: $0)) }
    }

    /// The events as lines.
    static func bytes(_ events: [JobEvent]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes: [UInt8] = []
        for event in events {
            // Losing the error is right: encoding strings and finite numbers never fails.
            guard let line = try? encoder.encode(JobLine(event)) else { continue }
            bytes += line + [UInt8(ascii: "\n")]
        }
        return bytes
    }

    /// The event of a line; nil for an invalid line.
    static func event(_ line: some Collection<UInt8>) -> JobEvent? {
        // Losing the error is right: an invalid line is skipped.
        (try? JSONDecoder().decode(JobLine.self, from: Data(line)))?.event
    }
}
