import Glibc
import SystemSupport

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
            let owner = try calls.status(of: descriptor).owner
            guard owner == geteuid() else {
                throw FileFault(
                    kind: .open, name: path, code: EPERM, detail: "it belongs to another user (\(owner))")
            }
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

    /// The names of the files.
    var names: [String] {
        faults.counting { () throws(FileFault) in try calls.names(in: descriptor) } ?? []
    }

    /// Removes a partial file and its checksums, unless a transfer uses them. Returns whether it has.
    /// - Parameter mayBeAbsent: whether to remove checksums without a partial file too. Makes that file for a moment:
    ///   without its lock they could be those of a transfer that is just beginning.
    @discardableResult
    func removeUnlessBusy(_ name: String, mayBeAbsent: Bool = false) -> Bool {
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
            do throws(FileFault) {
                try calls.remove(BlockChecksums.name(for: name), in: descriptor)
            } catch let error where error.isAbsence {}
            try calls.remove(name, in: descriptor)
            return true
        } ?? false
    }

    /// Identifies this boot of the system.
    static let bootIdentifier: String = {
        // Losing the error is right: without the file, as in a bare container, nothing is resumed.
        guard let bytes = try? FileCalls().contents(ofPath: "/proc/sys/kernel/random/boot_id"),
            bytes.count >= 36
        else { return unknownBoot }
        return String(decoding: bytes.prefix(36), as: UTF8.self)
    }()
}
