import Glibc
import SystemSupport

/// The folder of the bodies whose transfers broke, each in a file named by the hash of what was asked for. Bounded: a body
/// that begins has older ones removed that nobody is at.
final class PartialFolder: Sendable {
    let calls: FileCalls
    let descriptor: Descriptor
    /// Counts what fails here.
    let faults: PartialFaults
    private let limit: Int

    /// Parts not gone on with for this long are removed, in seconds: a week.
    private static let longestStay = 7 * 86_400

    /// Opens the folder at an absolute path, and makes it if `isForWriting`; nil if that cannot be.
    /// - Parameters:
    ///   - limit: the most bytes the files may have together.
    ///   - faults: counts what fails.
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
            // Without a folder no transfer goes on where it was, and that is all.
            faults.note(error)
            return nil
        }
        self.limit = limit
        self.calls = calls
        self.faults = faults
    }

    /// Opens a file and locks it. Throws if another process has it locked, or has just finished with it.
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
        // What cannot be looked at or removed now is there for the next one to remove.
        var files: [(name: String, identity: FileIdentity)] = []
        for name in names {
            let status = faults.noting { () throws(FileFault) in try calls.status(of: name, in: descriptor) }
            if let status { files.append((name: name, identity: status.identity)) }
        }
        files.sort { $0.identity.modified < $1.identity.modified }
        var sum = files.reduce(0) { $0 + $1.identity.size }
        for file in files {
            let age = FileTime.coarseNow.seconds(since: file.identity.modified)
            guard sum + count > limit || age > Self.longestStay else { break }
            if removeUnlessBusy(file.name) { sum -= file.identity.size }
        }
        return sum + count <= limit
    }

    /// Stands for a start of the system that nothing tells from others: what was written then is not gone on with.
    static let unknownBoot = "unknown"

    /// Removes every file that nobody is at.
    func removeAll() {
        for name in names { removeUnlessBusy(name) }
    }

    /// The files that there are.
    var names: [String] {
        faults.noting { () throws(FileFault) in try calls.names(in: descriptor) } ?? []
    }

    /// Removes a file, unless somebody is at it; whether it has.
    @discardableResult
    func removeUnlessBusy(_ name: String) -> Bool {
        do throws(FileFault) {
            let file = try openLocked(name, isNew: false)
            try calls.remove(name, in: descriptor)
            _ = file.number
            return true
        } catch {
            faults.note(error)
            return false
        }
    }

    /// Tells this start of the system from every other.
    static let bootIdentifier: String = {
        // Losing the errors is right: without the file, as in a bare container, nothing is gone on with.
        guard let bytes = try? FileCalls().contents(ofPath: "/proc/sys/kernel/random/boot_id"),
            bytes.count >= 36
        else { return unknownBoot }
        return String(decoding: bytes.prefix(36), as: UTF8.self)
    }()
}
