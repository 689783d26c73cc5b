import SystemSupport

/// Reads a job's results. Each call continues where the last one stopped.
struct JobReader: ~Copyable {
    private let file: Descriptor
    private let calls = FileCalls()
    private var offset = 0
    /// The beginning of an incomplete line.
    private var rest: [UInt8] = []

    init(_ path: String) throws(FileFault) { file = try calls.openForReading(path: path) }

    /// The events since the last call.
    mutating func next() throws(FileFault) -> [JobEvent] {
        var events: [JobEvent] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = try calls.read(file, into: &part, at: offset)
            if count == 0 { return events }
            offset += count
            rest += part[..<count]
            var start = rest.startIndex
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                if let event = JobLine.event(rest[start..<end]) { events.append(event) }
                start = end + 1
            }
            rest.removeFirst(start)
        }
    }
}
