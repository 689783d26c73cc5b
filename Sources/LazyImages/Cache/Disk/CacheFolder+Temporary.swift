internal import Glibc
import SystemSupport

/// A file in `tmp`, locked by this process.
struct TemporaryFile: ~Copyable {
    let file: Descriptor
    let name: String
    let calls: FileCalls

    // Closing the descriptor is not enough: a child process that is just starting has a copy of it, which keeps the
    // lock.
    deinit { calls.unlock(file) }
}

extension CacheFolder {
    /// Creates a file in `tmp` and locks it, so that no sweep takes it for the leftover of a crash. The race:
    ///
    /// 1. this process creates the file;
    /// 2. another process, which opens the cache, finds the file unlocked, locks it and removes its name;
    /// 3. the lock of this process fails, or succeeds after the other process has released its own.
    ///
    /// A sweep holds its lock until the name is removed: in the second case the file has no name. In both cases the
    /// loop creates another file.
    func openTemporary() throws(FileFault) -> TemporaryFile {
        while true {
            let name = newTemporaryName()
            let file = try openInTemporaryFolder(name)
            do throws(FileFault) {
                if try calls.tryLock(file), try calls.status(of: file).links > 0 {
                    return TemporaryFile(file: file, name: name, calls: calls)
                }
            } catch {
                // Losing the error is right: the first error says more, and the next sweep removes the file.
                try? calls.remove(name, in: descriptor)
                throw error
            }
        }
    }

    private func openInTemporaryFolder(_ name: String) throws(FileFault) -> Descriptor {
        do {
            return try calls.openForWriting(name, in: descriptor, creating: .always)
        } catch let error where error.code == ENOENT {
            try calls.makeFolder("tmp", in: descriptor)
            return try calls.openForWriting(name, in: descriptor, creating: .always)
        }
    }

    /// Removes the leftovers of crashes from `tmp`: all files that nobody has locked.
    func sweep() throws(FileFault) {
        let folder: Descriptor
        do {
            folder = try calls.openFolder("tmp", in: descriptor)
        } catch let error where error.code == ENOENT {
            return
        }
        for name in try calls.names(in: folder) {
            // Losing the error is right: a file that cannot be locked or removed now is left for the next sweep.
            try? removeUnlessLocked(name, in: folder)
        }
    }

    private func removeUnlessLocked(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        do {
            let file = try calls.openForReading(name, in: folder)
            guard try calls.tryLock(file) else { return }
            defer { calls.unlock(file) }
            // Fails if the file has been renamed since the listing.
            try calls.remove(name, in: folder)
        } catch let error where error.code == ELOOP {
            // The cache creates no symbolic links.
            try calls.remove(name, in: folder)
        }
    }
}
