import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import HTTPServer
@testable import ServiceOperations

@Suite("Metrics", .bounded)
struct MetricsTests {
    /// One metric of each kind, with all characters that need escaping.
    private func everyKind() -> Metrics {
        let metrics = Metrics()
        metrics.counter("marquee_pictures_total", "Pictures made.\nA \\ in the help.") { 3 }
        metrics.counter("marquee_refusals_total", "Refusals, by rule.", label: "rule") {
            [("scheme", 1), ("a\"\\\nb", 2)]
        }
        metrics.counter("marquee_decoded_bytes_total", "Bytes decoded.") { 0x1p40 }
        metrics.gauge("marquee_queue_length", "Requests that wait.") { 7 }
        metrics.gauge("marquee_absent_ratio", "Has no value now.") { nil }
        metrics.gauge("marquee_load_ratio", "By tier.", label: "tier") { [("disk", 0.25)] }
        let times = metrics.histograms(
            "marquee_decode_seconds", "Decoding.", label: "format", values: ["jpeg"], bounds: [0.1, 1])
        for time in [0.05, 0.1, 0.5, 9] { times[0].observe(.seconds(time)) }
        let byRoute = metrics.histograms(
            "marquee_answer_seconds", "By route.", label: "route", values: ["film", "top"], bounds: [1])
        byRoute[1].observe(.milliseconds(1500))
        metrics.counter("marquee_answers_total", "By two labels.", labels: ("status", "route")) {
            [(("200", "film"), 3), (("404", "a\"b"), 1)]
        }
        return metrics
    }

    @Test("the text has Prometheus' format")
    func text() {
        #expect(
            everyKind().text == """
                # HELP marquee_pictures_total Pictures made.\\nA \\\\ in the help.
                # TYPE marquee_pictures_total counter
                marquee_pictures_total 3
                # HELP marquee_refusals_total Refusals, by rule.
                # TYPE marquee_refusals_total counter
                marquee_refusals_total{rule="scheme"} 1
                marquee_refusals_total{rule="a\\"\\\\\\nb"} 2
                # HELP marquee_decoded_bytes_total Bytes decoded.
                # TYPE marquee_decoded_bytes_total counter
                marquee_decoded_bytes_total 1099511627776
                # HELP marquee_queue_length Requests that wait.
                # TYPE marquee_queue_length gauge
                marquee_queue_length 7
                # HELP marquee_absent_ratio Has no value now.
                # TYPE marquee_absent_ratio gauge
                # HELP marquee_load_ratio By tier.
                # TYPE marquee_load_ratio gauge
                marquee_load_ratio{tier="disk"} 0.25
                # HELP marquee_decode_seconds Decoding.
                # TYPE marquee_decode_seconds histogram
                marquee_decode_seconds_bucket{format="jpeg",le="0.1"} 2
                marquee_decode_seconds_bucket{format="jpeg",le="1"} 3
                marquee_decode_seconds_bucket{format="jpeg",le="+Inf"} 4
                marquee_decode_seconds_sum{format="jpeg"} 9.65
                marquee_decode_seconds_count{format="jpeg"} 4
                # HELP marquee_answer_seconds By route.
                # TYPE marquee_answer_seconds histogram
                marquee_answer_seconds_bucket{route="film",le="1"} 0
                marquee_answer_seconds_bucket{route="film",le="+Inf"} 0
                marquee_answer_seconds_sum{route="film"} 0
                marquee_answer_seconds_count{route="film"} 0
                marquee_answer_seconds_bucket{route="top",le="1"} 0
                marquee_answer_seconds_bucket{route="top",le="+Inf"} 1
                marquee_answer_seconds_sum{route="top"} 1.5
                marquee_answer_seconds_count{route="top"} 1
                # HELP marquee_answers_total By two labels.
                # TYPE marquee_answers_total counter
                marquee_answers_total{status="200",route="film"} 3
                marquee_answers_total{status="404",route="a\\"b"} 1

                """)
    }

    @Test("counts from many threads are not lost")
    func threads() async throws {
        let metrics = Metrics()
        let counter = Counter()
        metrics.counter("marquee_things_total", "Things.") { Double(counter.value) }
        let histogram = metrics.histograms(
            "marquee_things_seconds", "Their time.", label: "kind", values: ["small"])[0]
        let ended = Tally()
        for _ in 0..<8 {
            try BlockingThreads.startThread {
                for _ in 0..<10_000 {
                    counter.add()
                    histogram.observe(.milliseconds(2))
                }
                ended.add()
            }
        }
        try await ended.wait(for: 8)
        #expect(counter.value == 80_000)
        #expect(metrics.text.contains("marquee_things_total 80000\n"))
        #expect(metrics.text.contains("marquee_things_seconds_count{kind=\"small\"} 80000\n"))
        #expect(metrics.text.contains("marquee_things_seconds_bucket{kind=\"small\",le=\"0.0025\"} 80000\n"))
    }

    @Test("the metrics of the process are included")
    func process() async {
        // Other tests of this process open and close descriptors too.
        await #expect(processExitsWith: .success) {
            let metrics = Metrics()
            metrics.watchProcess(version: "1.2.3")
            let text = metrics.text
            #expect(text.contains("marquee_build_info{version=\"1.2.3\"} 1\n"))
            let memory = try #require(value("process_resident_memory_bytes", in: text))
            #expect(memory > 0x1p20 && memory < 0x1p40)
            let before = try #require(value("process_open_fds", in: text))
            for _ in 0..<50 { _ = dup(0) }
            let after = try #require(value("process_open_fds", in: metrics.text))
            // The threads of the runtime begin with the first task, and have a few descriptors.
            #expect((45...60).contains(after - before), "\(before), \(after)")
        }
    }

    @Test(
        "promtool finds no fault",
        .enabled(if: Shell.has("promtool"), "promtool is not installed (Debian package prometheus)"))
    func promtool() throws {
        let metrics = everyKind()
        metrics.watchProcess(version: "1.2.3")
        metrics.watch(server: {
            HTTPServer.Statistics(answers: [.film: [200: 3, 404: 1]], bytesSent: 1 << 20)
        })
        #expect(try Promtool.check(metrics.text) == "")
        // promtool does find this fault.
        #expect(try Promtool.check("# TYPE x counter\nx 1\n") != "")
    }
}

/// Prometheus' checker of metrics.
enum Promtool {
    /// The findings of `promtool check metrics` for a text. Blocks.
    static func check(_ text: String) throws -> String {
        let folder = try TemporaryFolder()
        let (input, output) = (folder.file("metrics"), folder.file("answer"))
        try Data(text.utf8).write(to: URL(filePath: input))
        let status = unsafe system("promtool check metrics <'\(input)' >'\(output)' 2>&1")
        let answer = String(decoding: try Data(contentsOf: URL(filePath: output)), as: UTF8.self)
        return status == 0 ? answer : "status \(status): \(answer)"
    }
}

/// The value of a metric without labels in Prometheus' text.
private func value(_ name: String, in text: String) -> Double? {
    text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        .flatMap { Double($0.dropFirst(name.count + 1)) }
}
