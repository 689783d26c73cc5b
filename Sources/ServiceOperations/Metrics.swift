internal import FoundationEssentials
internal import HTTPSemantics
package import HTTPServer
internal import Synchronization
internal import SystemSupport

/// The metrics of a service, for Prometheus to collect (its text format, version 0.0.4):
///
///     # HELP marquee_http_requests_total Requests answered, by status and route.
///     # TYPE marquee_http_requests_total counter
///     marquee_http_requests_total{status="200",route="film"} 36
///
/// Each family is registered once, and read at every scrape. The program lists the values of a label; they never come
/// from outside, so a client's URL or host cannot create a time series.
package final class Metrics: Sendable {
    /// A metric family: its head, and the source of its lines.
    private struct Family: Sendable {
        let name, help, type: String
        let samples: @Sendable () -> [Sample]
    }

    /// One line: the text after the family's name, and the value.
    struct Sample: Sendable {
        var suffix = ""
        var labels = ""
        let value: Double
    }

    /// A label's value, and its figure.
    package typealias Reading = (label: String, value: Double)

    /// The media type of `text`.
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    private let families = Lock<[Family]>([])

    package init() {}

    /// A counter whose value the closure reads. The name ends in `_total`.
    package func counter(_ name: String, _ help: String, value: @escaping @Sendable () -> Double) {
        register(name, help, "counter") { [Sample(value: value())] }
    }

    /// Counters for each value of a label, read by the closure.
    package func counter(
        _ name: String, _ help: String, label: String, readings: @escaping @Sendable () -> [Reading]
    ) {
        register(name, help, "counter") { Self.samples(label, readings()) }
    }

    /// Counters for each pair of values of two labels, read by the closure.
    package func counter(
        _ name: String, _ help: String, labels: (String, String),
        readings: @escaping @Sendable () -> [(labels: (String, String), value: Double)]
    ) {
        register(name, help, "counter") {
            readings().map { values, value in
                Sample(labels: Self.labels([(labels.0, values.0), (labels.1, values.1)]), value: value)
            }
        }
    }

    /// A figure that goes up and down, in its base unit: bytes, seconds, a ratio. Nil if there is none at the moment.
    package func gauge(_ name: String, _ help: String, value: @escaping @Sendable () -> Double?) {
        register(name, help, "gauge") { value().map { [Sample(value: $0)] } ?? [] }
    }

    /// Figures that go up and down, for each value of a label.
    package func gauge(
        _ name: String, _ help: String, label: String, readings: @escaping @Sendable () -> [Reading]
    ) {
        register(name, help, "gauge") { Self.samples(label, readings()) }
    }

    /// A distribution of times in seconds for each value of a label, in the order of the values. The caller adds the
    /// times.
    /// - Parameter bounds: the upper bounds of the buckets, ascending. A bucket without a bound is added.
    package func histograms(
        _ name: String, _ help: String, label: String, values: [String], bounds: [Double] = Histogram.seconds
    ) -> [Histogram] {
        let histograms = values.map { _ in Histogram(bounds: bounds) }
        register(name, help, "histogram") {
            zip(values, histograms).flatMap { $1.samples((label, $0)) }
        }
        return histograms
    }

    /// All metrics as they are now. Calls the closures, so it takes as long as they do.
    package var text: String {
        var text = ""
        for family in families.withLock({ $0 }) {
            let help = family.help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
            text += "# HELP \(family.name) \(help)\n# TYPE \(family.name) \(family.type)\n"
            for sample in family.samples() {
                text +=
                    "\(family.name)\(sample.suffix)\(sample.labels) \(Self.number(sample.value))\n"
            }
        }
        return text
    }

    private func register(
        _ name: String, _ help: String, _ type: String, samples: @escaping @Sendable () -> [Sample]
    ) {
        precondition(
            ["marquee_", "process_"].contains(where: name.hasPrefix)
                && name.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") },
            "\(name) is not a metric name of Marquee")
        precondition((type == "counter") == name.hasSuffix("_total"), "\(name): counters end in _total")
        families.withLock { families in
            precondition(!families.contains { $0.name == name }, "\(name) is registered twice")
            families.append(Family(name: name, help: help, type: type, samples: samples))
        }
    }

    private static func samples(_ label: String, _ readings: [Reading]) -> [Sample] {
        readings.map { Sample(labels: labels([(label, $0.label)]), value: $0.value) }
    }

    /// `{status="200",route="film"}`
    static func labels(_ labels: [(name: String, value: String)]) -> String {
        let texts = labels.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }
        return "{\(texts.joined(separator: ","))}"
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return Int(exactly: value).map(String.init) ?? "\(value)"
    }
}

extension Metrics {
    /// Registers the counts of an HTTP server.
    package func watch(server statistics: @escaping @Sendable () -> HTTPServer.Statistics) {
        counter(
            "marquee_http_requests_total", "Requests answered, by status and route.",
            labels: ("status", "route")
        ) {
            let answers = statistics().answers
            return HTTPRoute.allCases.flatMap { route in
                (answers[route] ?? [:]).sorted { $0.key < $1.key }
                    .map { (("\($0.key)", route.name), Double($0.value)) }
            }
        }
        counter("marquee_http_sent_bytes_total", "Bytes of answers sent, heads included.") {
            Double(statistics().bytesSent)
        }
        counter("marquee_http_shed_answers_total", "Answers that became 503: too many waited for clients.") {
            Double(statistics().shedAnswers)
        }
        gauge("marquee_http_waiting_answer_bytes", "Bytes of answers that clients have not taken yet.") {
            Double(statistics().waitingAnswerBytes)
        }
        gauge("marquee_http_connections", "Open connections.") { Double(statistics().connectionsNow) }
        counter("marquee_http_accepted_connections_total", "Connections accepted.") {
            Double(statistics().connectionsInAll)
        }
    }

    /// Registers the figures of the process, and the program's version.
    package func watchProcess(version: String) {
        gauge("marquee_build_info", "Always 1; the label is the program's version.", label: "version") {
            [(version, 1)]
        }
        let start = Double(time(nil))
        gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.") { start }
        gauge("process_resident_memory_bytes", "Resident memory of the process.") {
            Self.residentMemory
        }
        gauge("process_open_fds", "Open file descriptors.") { Self.openDescriptors }
        gauge("process_max_fds", "Limit of open file descriptors.") {
            var limit = rlimit()
            guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
                return nil
            }
            return Double(limit.rlim_cur)
        }
        counter("process_cpu_seconds_total", "Processor time of the process.") {
            var used = timespec()
            unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
            return Double(used.tv_sec) + Double(used.tv_nsec) / 1e9
        }
    }

    /// The second number of /proc/self/statm is in pages (proc(5)).
    private static var residentMemory: Double? {
        // Ignored: without /proc this metric is left out.
        guard let bytes = try? FileCalls().contents(ofPath: "/proc/self/statm") else { return nil }
        let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard numbers.count > 1, let pages = Double(numbers[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static var openDescriptors: Double? {
        // Ignored: without /proc this metric is left out. The descriptor that reads the folder does not count.
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count - 1) }
    }
}

/// The distribution of times: their counts up to each bound, and their sum. A time costs two atomic additions.
package final class Histogram: Sendable {
    /// Bounds for the times of requests, in seconds: from a hit in memory to the longest wait.
    package static let seconds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private let bounds: [(seconds: Double, nanoseconds: Int)]
    /// The count of each bucket alone, not cumulative. The last bucket has no bound.
    private let counts: [Counter]
    /// In nanoseconds.
    private let sum = Counter()

    /// - Parameter bounds: in seconds, ascending.
    init(bounds: [Double]) {
        self.bounds = bounds.map { ($0, Int($0 * 1e9)) }
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts a time. Any thread may call it.
    package func observe(_ time: Duration) {
        let nanoseconds = Int(time.nanoseconds)
        counts[bounds.firstIndex { nanoseconds <= $0.nanoseconds } ?? bounds.count].add()
        sum.add(nanoseconds)
    }

    /// - Parameter label: of all lines, as name and value.
    func samples(_ label: (String, String)) -> [Metrics.Sample] {
        let counts = counts.map(\.value)
        let total = counts.reduce(0, +)
        var count = 0
        var samples: [Metrics.Sample] = []
        for (bound, number) in zip(bounds.map(\.seconds) + [.infinity], counts) {
            count += number
            samples.append(
                Metrics.Sample(
                    suffix: "_bucket", labels: Metrics.labels([label, ("le", Metrics.number(bound))]),
                    value: Double(count)))
        }
        let labels = Metrics.labels([label])
        samples.append(Metrics.Sample(suffix: "_sum", labels: labels, value: Double(sum.value) / 1e9))
        samples.append(Metrics.Sample(suffix: "_count", labels: labels, value: Double(total)))
        return samples
    }
}
