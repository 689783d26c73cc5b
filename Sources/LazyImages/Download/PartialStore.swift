import FoundationEssentials
import Hashing
package import SystemSupport

/// The partial bodies by key. Reads their folder only once, so that a transfer without a partial body, as nearly all
/// are, costs no system call.
package final class PartialStore: Sendable {
    /// Smaller partial bodies are not worth a file. In bytes.
    static let smallest = 4096
    /// The room for a body of unknown length, in bytes.
    private static let assumedLength = 8 * 1024 * 1024

    /// The folder for partial bodies in a disk tier's folder; nil for a tier without a path.
    package static func path(besides disk: DiskCache) -> String? {
        disk.path.isEmpty ? nil : disk.path + "/partial"
    }

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

/// The folder of the partial bodies, each in a file named by the hash of its key, and a second file with its checksums.
/// Bounded: a new body removes older ones that no transfer uses.
final class PartialFolder: Sendable {
    let calls: FileCalls
    let descriptor: Descriptor
    /// Counts the faults.
    let faults: PartialFaults
    private let limit: Int

    /// Partial bodies that nobody resumes are removed after a week, in seconds.
    private static let maximumAge = 7 * 86_400

    /// Opens the folder at an absolute path, and creates it if `isForWriting`; nil if that fails.
    /// - Parameters:
    ///   - limit: the most bytes of all files.
    ///   - faults: counts the faults.
    init?(
        path: String, limit: Int, isForWriting: Bool, calls: FileCalls = FileCalls(),
        faults: PartialFaults = PartialFaults()
    ) {
        do throws(FileFault) {
            if isForWriting { try calls.makeFolders(path) }
            descriptor = try calls.openFolder(path)
            try calls.checkOwner(of: descriptor, path: path)
        } catch {
            // Only counted: without a folder no transfer can be resumed.
            faults.record(error)
            return nil
        }
        self.limit = limit
        self.calls = calls
        self.faults = faults
    }

    /// Opens a file and locks it. Throws if another process has locked or just removed it.
    func openLocked(_ name: String, isNew: Bool) throws(FileFault) -> Descriptor {
        let file = try calls.openForWriting(name, in: descriptor, creating: isNew ? .ifAbsent : .never)
        guard try calls.tryLock(file), try calls.status(of: file).links > 0 else {
            throw FileFault(kind: .lock, name: name, code: EWOULDBLOCK)
        }
        return file
    }

    /// Makes room for a body of `count` bytes; false if it is too large for the folder.
    func makeRoom(for count: Int) -> Bool {
        guard count <= limit else { return false }
        // A file that cannot be examined or removed now is left for the next call.
        var files: [(name: String, size: Int, modified: FileTime)] = []
        for name in partialNames {
            let status = faults.counting { () throws(FileFault) in
                try (
                    calls.statusUnlessAbsent(of: name, in: descriptor),
                    calls.statusUnlessAbsent(of: BlockChecksums.name(for: name), in: descriptor)
                )
            }
            guard let (partial, checksums) = status else { continue }
            if let partial {
                let size = partial.size + (checksums?.size ?? 0)
                files.append((name, size, partial.identity.modified))
            } else {
                removeUnlessBusy(name, mayBeAbsent: true)
            }
        }
        files.sort { $0.modified < $1.modified }
        var sum = files.reduce(0) { $0 + $1.size }
        for file in files {
            let age = FileTime.coarseNow.seconds(since: file.modified)
            guard sum + count > limit || age > Self.maximumAge else { break }
            if removeUnlessBusy(file.name) { sum -= file.size }
        }
        return sum + count <= limit
    }

    /// The boot identifier if the system has none. Partial bodies with it are never resumed.
    static let unknownBoot = "unknown"

    /// Removes all files that no transfer uses.
    func removeAll() {
        for name in partialNames { removeUnlessBusy(name, mayBeAbsent: true) }
    }

    /// The names of the partial files. A file that is gone counts if its checksums are left.
    private var partialNames: Set<String> { Set(names.map(BlockChecksums.partialName)) }

    /// The names of the files. Files of others stay.
    var names: [String] {
        let all = faults.counting { () throws(FileFault) in try calls.names(in: descriptor) } ?? []
        return all.filter { SHA256.Digest.isHexadecimal(BlockChecksums.partialName(of: $0)) }
    }

    /// Removes a partial file and its checksums, unless a transfer uses them. Returns whether it has.
    /// - Parameter mayBeAbsent: whether to remove checksums without a partial file too. Makes that file for a moment:
    ///   without its lock they could be those of a transfer that is just beginning.
    @discardableResult
    fileprivate func removeUnlessBusy(_ name: String, mayBeAbsent: Bool = false) -> Bool {
        faults.counting { () throws(FileFault) in
            let file = try openLocked(name, isNew: mayBeAbsent)
            defer { _ = file.number }
            return remove(name)
        } ?? false
    }

    /// Removes a partial file and its checksums. The caller has locked it. Returns whether it has.
    ///
    /// The checksums go first. The file's name keeps other processes from making both files anew meanwhile.
    @discardableResult
    func remove(_ name: String) -> Bool {
        faults.counting { () throws(FileFault) in
            _ = try calls.unlessAbsent { () throws(FileFault) in
                try calls.remove(BlockChecksums.name(for: name), in: descriptor)
            }
            try calls.remove(name, in: descriptor)
            return true
        } ?? false
    }

    /// Identifies this boot of the system.
    static let bootIdentifier: String = {
        // Ignored: without the file, as in a bare container, nothing is resumed.
        guard let bytes = try? FileCalls().contents(ofPath: "/proc/sys/kernel/random/boot_id"),
            bytes.count >= 36
        else { return unknownBoot }
        return String(decoding: bytes.prefix(36), as: UTF8.self)
    }()
}
