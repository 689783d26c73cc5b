internal import Glibc
import SystemSupport

/// A file in `tmp` that this process holds locked.
struct TemporaryFile: ~Copyable {
    let file: Descriptor
    let name: String
    let calls: FileCalls

    // Not only with the descriptor: a program that is being started has a copy of that for a moment.
    deinit { calls.unlock(file) }
}

extension CacheFolder {
    /// Makes a file in `tmp` and locks it, so that no sweep takes it for a crash's leftover. A sweep may come between:
    ///
    /// 1. we make the file;
    /// 2. another process, which is just opening the cache, finds it unlocked and locks it;
    /// 3. our lock fails, or comes after the other has removed the name and closed the file.
    ///
    /// In the first case another file is made; in the second the rename finds no such name, and the whole store is
    /// made once more.
    func openTemporary() throws(FileFault) -> TemporaryFile {
        while true {
            let name = newTemporaryName()
            let file = try openInTemporaryFolder(name)
            do throws(FileFault) {
                if try calls.tryLock(file) { return TemporaryFile(file: file, name: name, calls: calls) }
            } catch {
                // Losing the error is right: the first one tells more, and the next sweep finds what stays.
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

    /// Removes what a crash left in `tmp`: whatever nobody holds locked.
    func sweep() throws(FileFault) {
        let folder: Descriptor
        do {
            folder = try calls.openFolder("tmp", in: descriptor)
        } catch let error where error.code == ENOENT {
            return
        }
        for name in try calls.names(in: folder) {
            // Losing the errors is right, here and below: what cannot be locked or removed now is left for the next
            // sweep.
            guard isNobodys(name, in: folder) else { continue }
            // The name may have gone into its place since it was listed; then there is nothing here to remove.
            try? calls.remove(name, in: folder)
        }
    }

    private func isNobodys(_ name: String, in folder: borrowing Descriptor) -> Bool {
        do {
            return try calls.tryLock(calls.openForReading(name, in: folder))
        } catch {
            // A symbolic link is never ours.
            return error.code == ELOOP
        }
    }
}
