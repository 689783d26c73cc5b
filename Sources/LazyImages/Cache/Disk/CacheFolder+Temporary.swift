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
    /// 2. another process, which opens the cache, finds the file unlocked and locks it;
    /// 3. the lock of this process fails, or succeeds after the other process has removed the name.
    ///
    /// If the lock fails, the loop creates another file. In the other case the rename finds no such name, and the whole
    /// store is repeated.
    func openTemporary() throws(FileFault) -> TemporaryFile {
        while true {
            let name = newTemporaryName()
            let file = try openInTemporaryFolder(name)
            do throws(FileFault) {
                if try calls.tryLock(file) { return TemporaryFile(file: file, name: name, calls: calls) }
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
            // A file that cannot be locked now is left for the next sweep.
            guard isUnlocked(name, in: folder) else { continue }
            // Losing the error is right: the file may have been renamed since the listing, or the next sweep removes
            // it.
            try? calls.remove(name, in: folder)
        }
    }

    private func isUnlocked(_ name: String, in folder: borrowing Descriptor) -> Bool {
        do {
            return try calls.tryLock(calls.openForReading(name, in: folder))
        } catch {
            // The cache creates no symbolic links.
            return error.code == ELOOP
        }
    }
}
