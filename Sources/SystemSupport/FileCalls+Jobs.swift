internal import CSystem
internal import Glibc

extension FileCalls {
    /// Opens the file of this name to write at its end, in one piece a call; it is made if it is absent.
    package func openForAppending(_ name: String, in folder: borrowing Descriptor) throws(FileFault)
        -> Descriptor
    {
        let (number, flags) = (folder.number, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC)
        return Descriptor(try call(.open, name) { unsafe openat(number, name, flags, 0o600) })
    }

    /// Writes bytes where the descriptor stands.
    package func write(_ bytes: [UInt8], to file: borrowing Descriptor) throws(FileFault) {
        let number = file.number
        let span = bytes.span
        try unsafe span.withUnsafeBytes { buffer throws(FileFault) in
            try unsafe write(number, [buffer])
        }
    }

    /// Makes a pipe with a name.
    package func makePipe(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        let number = folder.number
        try call(.open, name) { unsafe mkfifoat(number, name, 0o600) }
    }

    /// Opens both ends of a pipe with a name: it never ends, and waits for nothing.
    package func openPipe(_ name: String, in folder: borrowing Descriptor) throws(FileFault) -> Descriptor {
        let number = folder.number
        return Descriptor(
            try call(.open, name) { unsafe csystem_open_entry(number, name, O_RDWR | O_NONBLOCK) })
    }

    /// Opens the end of a pipe with a name that is written to; nil where nobody reads.
    package func openPipeForWriting(_ name: String, in folder: borrowing Descriptor) throws(FileFault)
        -> Descriptor?
    {
        let number = folder.number
        do {
            return Descriptor(
                try call(.open, name) { unsafe csystem_open_entry(number, name, O_WRONLY | O_NONBLOCK) })
        } catch let error where error.code == ENXIO {
            return nil
        }
    }

    /// Removes an empty folder.
    package func removeFolder(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        let number = folder.number
        try call(.remove, name) { unsafe unlinkat(number, name, AT_REMOVEDIR) }
    }

    /// Locks the file for this descriptor and its copies, in programs that inherit one too; false if another has it.
    package func tryLockWithCopies(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        let number = file.number
        do {
            try call(.lock, "") { csystem_lock_whole(number) }
        } catch let error where error.code == EAGAIN || error.code == EACCES {
            return false
        }
        return true
    }

    /// Gives up the lock, whatever copies there are: a program that has one may take a moment to end.
    package func unlockWithCopies(_ file: borrowing Descriptor) { csystem_unlock_whole(file.number) }

    /// Whether another than this descriptor has the file locked by `tryLockWithCopies`. Takes no lock.
    package func isLocked(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        let number = file.number
        return try call(.lock, "") { csystem_is_locked(number) } == 1
    }
}
