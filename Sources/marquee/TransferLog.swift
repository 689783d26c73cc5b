import LazyImages

/// Prints what every transfer does to standard error, for `--verbose`.
enum TransferLog {
    /// Writes until the downloader ends or the task is cancelled, then writes the rest.
    static func follow(_ activity: NetworkActivity, _ output: Output) -> Task<Void, Never> {
        let events = activity.events
        return Task {
            for await event in events { output.detail(line(event)) }
        }
    }

    /// `#3 http://… 200, 42250 bytes in 12.3 ms (lookup 0.1, connect 0.2, first byte 9.8; HTTP/1.1, reused)`
    static func line(_ event: TransferEvent) -> String {
        let transfer = "#\(event.transfer) \(event.url)"
        switch event.kind {
        case .waiting: return "\(transfer) waits"
        case .started(let wait): return "\(transfer) starts after \(text(wait)) ms in the queue"
        case .redirected(let target): return "\(transfer) redirects to \(target)"
        case .retrying(let pause): return "\(transfer) retries in \(text(pause)) ms"
        case .finished(let status, let metrics): return "\(transfer) \(status), \(text(metrics))"
        case .failed(let error, let metrics):
            return "#\(event.transfer) \(error.code)" + (metrics.map { ", " + text($0) } ?? "")
        }
    }

    private static func text(_ metrics: TransferMetrics) -> String {
        var times: [String] = []
        let phases = [
            ("lookup", metrics.nameLookup), ("connect", metrics.connect), ("TLS", metrics.secureConnect),
            ("first byte", metrics.firstByte),
        ]
        for (name, time) in phases where time > .zero { times.append("\(name) \(text(time))") }
        let connection = [metrics.protocolVersion, metrics.isReused ? "reused" : ""].filter { !$0.isEmpty }
        let details = [times, connection].map { $0.joined(separator: ", ") }.filter { !$0.isEmpty }
        let sent = metrics.sent > 0 ? "\(metrics.sent) bytes sent, " : ""
        return "\(sent)\(metrics.bytes) bytes in \(text(metrics.total)) ms"
            + (details.isEmpty ? "" : " (\(details.joined(separator: "; ")))")
    }

    private static func text(_ time: Duration) -> String { (time / .milliseconds(1)).formatted(decimals: 1) }
}
