import FoundationEssentials
package import SystemSupport

/// The parts of broken bodies, by what was asked for. Looks into their folder once: for a transfer that has no part, which
/// is nearly every one, nothing is asked of the disk.
package final class PartialStore: Sendable {
    /// Smaller parts are not worth a file.
    static let smallest = 4096
    /// What room is made for a body that does not tell its length.
    private static let assumedLength = 8 * 1024 * 1024

    /// The folder for parts beside a disk tier's entries.
    package static func path(besides disk: DiskCache) -> String { disk.path + "/partial" }

    /// Bodies of this many bytes and more are written to their file as they come, so that they outlive a cancellation and
    /// the process; smaller ones only when their transfer breaks.
    let minimum: Int
    private let path: String
    private let limit: Int
    private let kind: CacheKind
    /// The files there were when somebody first looked, and those made since; nil before that.
    private let names = Lock<Set<String>?>(nil)
    private let calls: FileCalls
    private let faults = PartialFaults()

    /// - Parameters:
    ///   - path: the folder, which need not exist.
    ///   - limit: the most bytes all parts may have.
    ///   - minimum: how many bytes have come of a body before it is written to its file.
    ///   - kind: whose the cache is.
    package init(
        path: String, limit: Int, minimum: Int = 1024 * 1024, kind: CacheKind = .private,
        calls: FileCalls = FileCalls()
    ) {
        self.path = path
        self.minimum = minimum
        self.limit = limit
        self.kind = kind
        self.calls = calls
    }

    /// What failed here.
    var counters: PartialCounters { faults.counters }

    /// Whether there may be a part. Asks nothing of the disk.
    func mayHavePart(of key: CacheKey) -> Bool {
        names.withLock { $0?.contains(key.digest.hexadecimal) ?? true }
    }

    private func folder(isForWriting: Bool) -> PartialFolder? {
        PartialFolder(path: path, limit: limit, isForWriting: isForWriting, calls: calls, faults: faults)
    }

    /// What an earlier transfer of the same left, if this one can go on with it. Blocks for a few calls of the system.
    /// - Parameters:
    ///   - source: where the transfer goes; a part from elsewhere is not gone on with.
    func part(of key: CacheKey, from source: URL) -> PartialFile? {
        guard has(key), let folder = folder(isForWriting: false),
            let file = PartialFile.opening(name: key.digest.hexadecimal, in: folder), file.count > 0,
            file.response.url == source.absoluteString
        else { return nil }
        return file
    }

    /// A file for a body that begins; nil if its answer has nothing by which it could be gone on with.
    func begin(_ head: ResponseHead, total: Int?, of key: CacheKey, from source: URL, now: Int)
        -> PartialFile?
    {
        guard head.status == 200, Validators.strong(head.fields, now: now) != nil,
            head.fields["accept-ranges"]?.equalsIgnoringCase("none") != true,
            kind.allows(head),
            let folder = folder(isForWriting: true),
            folder.makeRoom(for: total ?? Self.assumedLength)
        else { return nil }
        let name = key.digest.hexadecimal
        _ = has(key)
        names.withLock { _ = $0?.insert(name) }
        let response = StoredResponse(head, address: source.absoluteString, received: now)
        return PartialFile.beginning(response, total: total, name: name, in: folder)
    }

    /// Removes the part of one body, unless a transfer is at it. Blocks.
    func remove(_ key: CacheKey) {
        folder(isForWriting: false)?.removeUnlessBusy(key.digest.hexadecimal)
    }

    /// Removes every part that nobody is at. Blocks.
    package func removeAll() {
        folder(isForWriting: false)?.removeAll()
    }

    private func has(_ key: CacheKey) -> Bool {
        names.withLock { names in
            if names == nil {
                names = Set(folder(isForWriting: false)?.names ?? [])
            }
            guard let names, !names.isEmpty else { return false }
            return names.contains(key.digest.hexadecimal)
        }
    }
}

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
