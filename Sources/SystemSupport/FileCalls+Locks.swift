internal import CSystem
internal import Glibc

/// Locks of a descriptor and its copies, inherited ones too. The system releases them with the last copy, however the
/// process ends (F_OFD_SETLK). None of these calls waits for a lock.
extension FileCalls {
    /// Locks the file; false if another descriptor has the lock.
    package func tryLockWithCopies(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        try tryLock(file, from: 0, count: 0)
    }

    /// Releases the lock for all copies of the descriptor: a process that inherited one may take a moment to end.
    package func unlockWithCopies(_ file: borrowing Descriptor) { csystem_unlock_bytes(file.number, 0, 0) }

    /// Whether another descriptor has the lock of `tryLockWithCopies`. Takes no lock.
    package func isLocked(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        let number = file.number
        return try call(.lock, "") { csystem_is_locked(number) } == 1
    }

    /// Locks the byte at an offset, even beyond the file's end; false if another descriptor has the lock.
    package func tryLock(byte offset: Int, of file: borrowing Descriptor) throws(FileFault) -> Bool {
        try tryLock(file, from: offset, count: 1)
    }

    /// Releases the lock of the byte at an offset.
    package func unlock(byte offset: Int, of file: borrowing Descriptor) {
        csystem_unlock_bytes(file.number, off_t(offset), 1)
    }

    private func tryLock(
        _ file: borrowing Descriptor, from start: Int, count: Int
    ) throws(FileFault) -> Bool {
        let number = file.number
        do {
            try call(.lock, "") { csystem_lock_bytes(number, off_t(start), off_t(count)) }
        } catch let error where error.code == EAGAIN || error.code == EACCES {
            return false
        }
        return true
    }

    /// Whether the file is on a network file system, where taking a lock waits for the network.
    package func isRemote(_ file: borrowing Descriptor) throws(FileFault) -> Bool {
        let number = file.number
        return try call(.status, "") { csystem_is_remote(number) } == 1
    }
}
