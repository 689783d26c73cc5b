import SystemSupport

/// What went wrong with the parts of broken bodies since the downloader was made. None of it stops a transfer: one that
/// breaks only begins anew.
package struct PartialCounters: Equatable, Sendable {
    /// Times that the folder of the parts began to fail; failures that go on for the same reason count once.
    package internal(set) var faults = 0
    /// What the last fault was, for people; nil if there was none.
    package internal(set) var lastFault: String?
}

/// Counts what fails in the folder of the parts, as `DiskCache` counts its own faults.
final class PartialFaults: Sendable {
    private let log = Lock(DiskCache.FaultLog())

    var counters: PartialCounters {
        log.withLock { PartialCounters(faults: $0.count, lastFault: $0.last) }
    }

    /// The folder works again.
    func recovered() { log.withLock { $0.recovered(writing: true) } }

    /// Counts a fault. That something is not there, or that another transfer is at it, is none.
    func note(_ fault: FileFault) {
        if fault.isAbsence || fault.isContention { return }
        log.withLock { $0.note(fault, writing: true) }
    }

    /// What `body` returns, or nil where it fails, which is counted.
    func noting<Value: ~Copyable>(_ body: () throws(FileFault) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            note(error)
            return nil
        }
    }
}
