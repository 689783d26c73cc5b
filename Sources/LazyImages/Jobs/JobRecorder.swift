import SystemSupport

/// Writes a job's events to its results, several in one call where they come fast. A result is written after its file is on
/// disk: otherwise a kill in between would lose the file for good.
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

    /// - Parameter disk: where the files are.
    init(_ folder: JobFolder, _ disk: DiskCache?) throws(FileFault) {
        self.folder = folder
        self.disk = disk
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        // Half a line, which a kill or a full disk has left, becomes one that is passed over.
        let calls = folder.calls
        let file = try calls.openForAppending(JobFolder.results, in: try calls.openFolder(folder.path))
        var last: [UInt8] = [0]
        let size = try calls.status(of: file).size
        guard size > 0, try calls.read(file, into: &last, at: size - 1) == 1 else { return }
        if last[0] != UInt8(ascii: "\n") { try calls.write([UInt8(ascii: "\n")], to: file) }
    }

    /// Why nothing can be written any more; nil as long as it can.
    var fault: FileFault? { state.withLock { $0.fault } }

    /// Notes an event; `write` writes it.
    func add(_ event: JobEvent) {
        state.withLock { $0.waiting.append(event) }
        signal.yield()
    }

    /// Writes an event now. Blocks.
    func addNow(_ event: JobEvent) {
        state.withLock { $0.waiting.append(event) }
        writeWaiting(take())
    }

    /// Writes what is noted, until `finish`.
    /// - Parameter failed: is called when that does not go any more.
    func write(failed: @Sendable () -> Void) async {
        for await _ in signals {
            await writeOnce()
            if fault != nil { failed() }
        }
        await writeOnce()
    }

    /// No more events come but by `addNow`.
    func finish() { signal.finish() }

    private func writeOnce() async {
        let events = take()
        guard !events.isEmpty else { return }
        await disk?.flush()
        await BlockingThreads.runInAnyCase { [self] in writeWaiting(events) }
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
