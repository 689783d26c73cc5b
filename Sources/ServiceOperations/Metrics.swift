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

    /// A counter that begins at 0. The caller adds to it. The name ends in `_total`.
    package func counter(_ name: String, _ help: String) -> Counter {
        let counter = Counter()
        register(name, help, "counter") { [Sample(value: Double(counter.value))] }
        return counter
    }

    /// A counter whose value the closure reads.
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

    /// A distribution of times, in seconds. The caller adds the times.
    /// - Parameter bounds: the upper bounds of the buckets, ascending. A bucket without a bound is added.
    package func histogram(
        _ name: String, _ help: String, bounds: [Double] = Histogram.seconds
    ) -> Histogram {
        let histogram = Histogram(bounds: bounds)
        register(name, help, "histogram") { histogram.samples() }
        return histogram
    }

    /// A distribution of times for each value of a label, in the order of the values.
    package func histograms(
        _ name: String, _ help: String, label: String, values: [String], bounds: [Double] = Histogram.seconds
    ) -> [Histogram] {
        let histograms = values.map { _ in Histogram(bounds: bounds) }
        register(name, help, "histogram") {
            zip(values, histograms).flatMap { $1.samples([(label, $0)]) }
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
            name.hasPrefix("marquee_") && name.utf8.allSatisfy { $0.isDigit || $0.isLowercaseLetter },
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

    /// `{status="200",route="film"}`; empty without labels.
    static func labels(_ labels: [(name: String, value: String)]) -> String {
        guard !labels.isEmpty else { return "" }
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

extension UInt8 {
    fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    fileprivate var isLowercaseLetter: Bool {
        self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") || self == UInt8(ascii: "_")
    }
}
