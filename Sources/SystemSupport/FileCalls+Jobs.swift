internal import CSystem
internal import Glibc

extension FileCalls {
    /// Opens a file for appending; each call of `write` is atomic. Creates the file if it is absent.
    package func openForAppending(_ name: String, in folder: borrowing Descriptor) throws(FileFault)
        -> Descriptor
    {
        let (number, flags) = (folder.number, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC)
        return Descriptor(try call(.open, name) { unsafe openat(number, name, flags, 0o600) })
    }

    /// Writes bytes at the descriptor's current offset.
    package func write(_ bytes: [UInt8], to file: borrowing Descriptor) throws(FileFault) {
        let number = file.number
        let span = bytes.span
        try unsafe span.withUnsafeBytes { buffer throws(FileFault) in
            try unsafe write(number, [buffer])
        }
    }

    /// Makes a named pipe (FIFO).
    package func makePipe(_ name: String, in folder: borrowing Descriptor) throws(FileFault) {
        let number = folder.number
        try call(.open, name) { unsafe mkfifoat(number, name, 0o600) }
    }

    /// Opens a named pipe for reading and writing: it never reports end of file, and opening does not block.
    package func openPipe(_ name: String, in folder: borrowing Descriptor) throws(FileFault) -> Descriptor {
        let number = folder.number
        return Descriptor(
            try call(.open, name) { unsafe csystem_open_entry(number, name, O_RDWR | O_NONBLOCK) })
    }

    /// Opens a named pipe for writing, without blocking; nil if nobody has it open for reading.
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
}
