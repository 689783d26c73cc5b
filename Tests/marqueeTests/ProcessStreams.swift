import Glibc
import TestSupport

/// The three standard streams of a running program, read and written as fast as it goes.
struct ProcessStreams {
    private(set) var output: [UInt8] = []
    private(set) var errors: [UInt8] = []
    private var input: ArraySlice<UInt8>
    private let streams: (input: Int32, output: Int32, errors: Int32)
    private var isOpen = (input: true, output: true, errors: true)
    private var lineStart = 0
    private let keepsInput: Bool

    /// - Parameter keepsInput: leaves standard input open and silent after `input`, as an idle user does.
    init(_ streams: (input: Int32, output: Int32, errors: Int32), input: String, keepsInput: Bool) {
        self.streams = streams
        self.input = Array(input.utf8)[...]
        self.keepsInput = keepsInput
        _ = fcntl(streams.input, F_SETFL, O_NONBLOCK)
        if input.isEmpty, !keepsInput { closeInput() }
    }

    var hasEnded: Bool { !isOpen.output && !isOpen.errors }

    /// Reads and writes until both outputs have ended, or the gate is open.
    mutating func run(until stop: Gate, taken: () -> Void, line: (String) -> Void) {
        while !hasEnded {
            var descriptors = [
                pollfd(fd: isOpen.output ? streams.output : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOpen.errors ? streams.errors : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: input.isEmpty ? -1 : streams.input, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&descriptors, 4, -1) > 0 else { continue }
            if descriptors[3].revents != 0 { break }
            if descriptors[0].revents != 0 { isOpen.output = Self.read(streams.output, into: &output) }
            if descriptors[1].revents != 0 { isOpen.errors = Self.read(streams.errors, into: &errors) }
            if descriptors[2].revents != 0 { writeInput() }
            if input.isEmpty { taken() }
            while let end = output[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
                line(String(decoding: output[lineStart..<end], as: UTF8.self))
                lineStart = end + 1
            }
        }
        if isOpen.input { closeInput() }
        close(streams.output)
        close(streams.errors)
    }

    private mutating func writeInput() {
        // SIGPIPE must not end this process when the program stops reading.
        let written = unsafe input.withUnsafeBytes {
            unsafe send(streams.input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if written > 0 { input = input.dropFirst(written) }
        if written < 0, errno != EAGAIN { input = [] }
        if input.isEmpty, !keepsInput { closeInput() }
    }

    private mutating func closeInput() {
        isOpen.input = false
        close(streams.input)
    }

    private static func read(_ stream: Int32, into bytes: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe Glibc.read(stream, &chunk, chunk.count)
        if count > 0 { bytes += chunk[..<count] }
        return count > 0
    }
}
