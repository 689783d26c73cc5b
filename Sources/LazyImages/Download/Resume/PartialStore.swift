import FoundationEssentials
package import SystemSupport

/// The partial bodies by key. Reads their folder only once, so that a transfer without a partial body, as nearly all
/// are, costs no system call.
package final class PartialStore: Sendable {
    /// Smaller partial bodies are not worth a file. In bytes.
    static let smallest = 4096
    /// The room for a body of unknown length, in bytes.
    private static let assumedLength = 8 * 1024 * 1024

    /// The folder for partial bodies in a disk tier's folder.
    package static func path(besides disk: DiskCache) -> String { disk.path + "/partial" }

    /// Bodies of at least so many bytes are written to their file while they arrive, and so outlive a cancellation and
    /// the process. Smaller ones are written only if their transfer fails.
    let minimum: Int
    private let path: String
    private let limit: Int
    private let kind: CacheKind
    /// The names of the files at the first look, and of those created since; nil before it.
    private let names = Lock<Set<String>?>(nil)
    private let calls: FileCalls
    private let disk: DiskCache?
    private let faults = PartialFaults()

    /// - Parameters:
    ///   - path: the folder, which need not exist.
    ///   - limit: the most bytes of all partial bodies.
    ///   - minimum: from how many bytes on a body is written while it arrives.
    ///   - kind: private or shared.
    ///   - disk: counts corrupt partial bodies beside its own entries; nil for none.
    package init(
        path: String, limit: Int, minimum: Int = 1024 * 1024, kind: CacheKind = .private,
        calls: FileCalls = FileCalls(), disk: DiskCache? = nil
    ) {
        self.path = path
        self.minimum = minimum
        self.limit = limit
        self.kind = kind
        self.calls = calls
        self.disk = disk
    }

    /// The faults of the folder.
    var counters: PartialCounters { faults.counters }

    /// Whether there may be a partial body. Makes no system call after the first look.
    func mayHavePartial(of key: CacheKey) -> Bool {
        names.withLock { $0?.contains(key.digest.hexadecimal) ?? true }
    }

    private func folder(isForWriting: Bool) -> PartialFolder? {
        PartialFolder(path: path, limit: limit, isForWriting: isForWriting, calls: calls, faults: faults)
    }

    /// The partial body of an earlier transfer, if it can be resumed. Blocks while it reads all of its bytes.
    /// - Parameters:
    ///   - source: the URL of the transfer. A partial body from another URL is not resumed.
    func partial(of key: CacheKey, from source: URL) -> PartialFile? {
        guard has(key), let folder = folder(isForWriting: false) else { return nil }
        switch PartialFile.open(name: key.digest.hexadecimal, in: folder) {
        case .file(let file): return file.response.url == source.absoluteString ? file : nil
        case .absent: return nil
        case .corrupt:
            disk?.countCorrupt(key)
            return nil
        }
    }

    /// Whether an answer's body can be resumed, and is not too large for the folder. Makes no system call.
    func accepts(_ head: ResponseHead, total: Int?, now: Int) -> Bool {
        head.status == 200 && Validators.strong(head.fields, now: now) != nil
            && head.fields["accept-ranges"]?.equalsIgnoringCase("none") != true
            && kind.allowsStoring(head) && total ?? Self.assumedLength <= limit
    }

    /// A new partial file for an arriving body; nil if the answer is not accepted, or the folder fails. Blocks.
    func start(_ head: ResponseHead, total: Int?, of key: CacheKey, from source: URL, now: Int)
        -> PartialFile?
    {
        guard accepts(head, total: total, now: now), let folder = folder(isForWriting: true),
            folder.makeRoom(for: total ?? Self.assumedLength)
        else { return nil }
        let name = key.digest.hexadecimal
        _ = has(key)
        names.withLock { _ = $0?.insert(name) }
        let response = StoredResponse(head, address: source.absoluteString, received: now)
        return PartialFile.create(response, total: total, name: name, in: folder)
    }

    /// Removes a partial body, unless a transfer uses it. Blocks.
    func remove(_ key: CacheKey) {
        folder(isForWriting: false)?.removeUnlessBusy(key.digest.hexadecimal)
    }

    /// Removes all partial bodies that no transfer uses. Blocks.
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

/// The faults of the partial bodies' folder since the downloader was made. They fail no transfer, but a failed transfer
/// then starts from the first byte.
package struct PartialCounters: Equatable, Sendable {
    /// How often the folder began to fail. Repeated failures for the same reason count once.
    package internal(set) var faults = 0
    /// The last fault, for people; nil if there was none.
    package internal(set) var lastFault: String?
}

/// Counts the faults of the partial bodies' folder, as `DiskCache` counts its own.
final class PartialFaults: Sendable {
    private let log = Lock(DiskCache.FaultLog())

    var counters: PartialCounters {
        log.withLock { PartialCounters(faults: $0.count, lastFault: $0.last) }
    }

    /// The folder works again.
    func recovered() { log.withLock { $0.recovered(writing: true) } }

    /// Counts a fault. A missing or locked file is not a fault.
    func record(_ fault: FileFault) {
        if fault.isAbsence || fault.isContention { return }
        log.withLock { $0.record(fault, writing: true) }
    }

    /// The result of `body`; nil if it throws, which is counted.
    func counting<Value: ~Copyable>(_ body: () throws(FileFault) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            record(error)
            return nil
        }
    }
}
