internal import Glibc
package import HTTPServer
internal import SystemSupport

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
        gauge("marquee_process_start_time_seconds", "Start of the process, in seconds since 1970.") { start }
        gauge("marquee_process_resident_memory_bytes", "Resident memory of the process.") {
            Self.residentMemory
        }
        gauge("marquee_process_open_descriptors", "Open file descriptors.") { Self.openDescriptors }
        gauge("marquee_process_descriptor_limit", "Limit of open file descriptors.") {
            var limit = rlimit()
            guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
                return nil
            }
            return Double(limit.rlim_cur)
        }
        counter("marquee_process_cpu_seconds_total", "Processor time of the process.") {
            var used = timespec()
            unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
            return Double(used.tv_sec) + Double(used.tv_nsec) / 1e9
        }
    }

    /// The second number of /proc/self/statm is in pages (proc(5)).
    private static var residentMemory: Double? {
        // Losing the error is right: without /proc this metric is left out.
        guard let bytes = try? FileCalls().contents(ofPath: "/proc/self/statm") else { return nil }
        let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard numbers.count > 1, let pages = Double(numbers[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static var openDescriptors: Double? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        // The entries `.` and `..`, and the descriptor that reads the folder, do not count.
        var count = -3.0
        while unsafe readdir(folder) != nil { count += 1 }
        return count
    }
}
