import LazyImages
import SystemSupport

/// Writes a job's events to its results, several in one call. A result is written after its file is on disk: a kill in
/// between would otherwise lose the file.
final class JobRecorder: Sendable {
    private struct State {
        var waiting: [JobEvent] = []
        var fault: FileFault?
    }

    private let folder: JobFolder
    private let disk: DiskCache?
    private let state = Lock(State())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// - Parameter disk: the disk tier of the files.
    init(_ folder: JobFolder, _ disk: DiskCache?) throws(FileFault) {
        self.folder = folder
        self.disk = disk
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        // Ends an incomplete line of an earlier process, which is then skipped.
        let calls = folder.calls
        let file = try calls.openForAppending(JobFolder.results, in: try calls.openFolder(folder.path))
        var last: [UInt8] = [0]
        let size = try calls.status(of: file).size
        guard size > 0, try calls.read(file, into: &last, at: size - 1) == 1 else { return }
        if last[0] != UInt8(ascii: "\n") { try calls.write([UInt8(ascii: "\n")], to: file) }
    }

    /// The fault after which nothing is written; nil before it.
    var fault: FileFault? { state.withLock { $0.fault } }

    /// Adds an event, which `write` writes.
    func add(_ event: JobEvent) {
        state.withLock { $0.waiting.append(event) }
        signal.yield()
    }

    /// Writes an event now. Blocks.
    func addNow(_ event: JobEvent) {
        state.withLock { $0.waiting.append(event) }
        writeWaiting(take())
    }

    /// Writes the added events, until `finish`.
    /// - Parameter failed: called if writing fails.
    func write(failed: @Sendable () -> Void) async {
        for await _ in signals {
            await writeOnce()
            if fault != nil { failed() }
        }
        await writeOnce()
    }

    /// Ends `write`. Later events can only use `addNow`.
    func finish() { signal.finish() }

    private func writeOnce() async {
        let events = take()
        guard !events.isEmpty else { return }
        await disk?.flush()
        await BlockingThreads.runOnOwnThread { [self] in writeWaiting(events) }
    }

    private func take() -> [JobEvent] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func writeWaiting(_ events: [JobEvent]) {
        guard fault == nil else { return }
        do throws(FileFault) {
            let calls = folder.calls
            let file = try calls.openForAppending(JobFolder.results, in: try calls.openFolder(folder.path))
            try calls.write(JobLine.bytes(events), to: file)
        } catch {
            state.withLock { $0.fault = error }
        }
    }
}
