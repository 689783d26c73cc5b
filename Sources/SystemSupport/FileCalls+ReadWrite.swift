internal import CSystem
internal import Glibc

extension FileCalls {
    /// Reads from `offset`, by default the beginning, until the buffer is full or the file ends. Returns the number of
    /// bytes read.
    package func read(
        _ file: borrowing Descriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int = 0
    ) throws(FileFault) -> Int {
        try unsafe read(file.number, into: buffer, at: offset)
    }

    private func read(
        _ number: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int = 0
    ) throws(FileFault) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            var limit = rest.count
            let count = try call(.read, "", limit: &limit) { limit in
                unsafe pread(number, rest.baseAddress, limit, off_t(offset + done))
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Writes all pieces in order, in one call if the system accepts them so. Takes the descriptor's number, because a
    /// closure that borrows bytes cannot capture a noncopyable descriptor.
    package func write(_ number: Int32, _ pieces: [UnsafeRawBufferPointer]) throws(FileFault) {
        var pieces = unsafe pieces.filter { $0.count > 0 }
        while let first = unsafe pieces.first {
            var limit = Int.max
            var written = try call(.write, "", limit: &limit) { limit in
                if limit < Int.max {
                    return unsafe Glibc.write(number, first.baseAddress, max(1, first.count / 2))
                }
                var vectors = unsafe pieces.map {
                    unsafe iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
                }
                return unsafe writev(number, &vectors, Int32(vectors.count))
            }
            while let piece = unsafe pieces.first, piece.count <= written {
                written -= piece.count
                unsafe pieces.removeFirst()
            }
            if written > 0 { unsafe pieces[0] = UnsafeRawBufferPointer(rebasing: pieces[0][written...]) }
        }
    }

    /// Reads from `offset`, by default the beginning, until the array is full or the file ends. Returns the number of
    /// bytes read.
    package func read<Word: FixedWidthInteger & BitwiseCopyable>(
        _ file: borrowing Descriptor, into words: inout [Word], at offset: Int = 0
    ) throws(FileFault) -> Int {
        try read(file.number, into: &words, at: offset)
    }

    /// As above, for a descriptor's number.
    package func read<Word: FixedWidthInteger & BitwiseCopyable>(
        _ number: Int32, into words: inout [Word], at offset: Int = 0
    ) throws(FileFault) -> Int {
        var span = words.mutableSpan
        return try unsafe span.withUnsafeMutableBytes { buffer throws(FileFault) in
            try unsafe read(number, into: buffer, at: offset)
        }
    }

    /// Overwrites a part of a file with the elements of an array, in their memory layout.
    package func write<Element: BitwiseCopyable>(
        _ file: borrowing Descriptor, _ elements: [Element], at offset: Int
    ) throws(FileFault) {
        try write(file, elements.span, at: offset)
    }

    /// As above, from a span.
    package func write<Element: BitwiseCopyable>(
        _ file: borrowing Descriptor, _ span: Span<Element>, at offset: Int
    ) throws(FileFault) {
        let number = file.number
        try unsafe span.withUnsafeBytes { bytes throws(FileFault) in
            try unsafe write(number, bytes, at: offset)
        }
    }

    private func write(_ number: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileFault) {
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            var limit = rest.count
            done += try call(.write, "", limit: &limit) { limit in
                unsafe pwrite(number, rest.baseAddress, limit, off_t(offset + done))
            }
        }
    }

    /// Writes all bytes to a pipe, a terminal or a socket, and waits while it accepts none. Blocks: do not call it on
    /// the cooperative pool.
    package func write(_ bytes: [UInt8], toStream number: Int32) throws(FileFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(FileFault) {
                let written = try call(.write, "") {
                    unsafe rest.withUnsafeBytes { unsafe Glibc.write(number, $0.baseAddress, $0.count) }
                }
                rest = rest.dropFirst(written)
            } catch let error where error.code == EAGAIN {
                _ = Polling.ready([(number, POLLOUT)])
            }
        }
    }

    /// All bytes of the file at a path. Ignores the size that the file reports: for files in `/proc` it is 0.
    package func contents(ofPath path: String) throws(FileFault) -> [UInt8] {
        let file = Descriptor(try call(.open, path) { unsafe csystem_open(path, O_RDONLY, 0) })
        var contents: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = try read(file, into: &part, at: contents.count)
            contents += part[..<count]
            if count < part.count { return contents }
        }
    }

    /// Truncates a file to a length.
    package func truncate(_ file: borrowing Descriptor, to length: Int) throws(FileFault) {
        let number = file.number
        try call(.write, "") { ftruncate(number, off_t(length)) }
    }

    /// Sets the access time to now, to the nanosecond, so that entries used in the same second still have an order.
    package func touch(_ file: borrowing Descriptor) throws(FileFault) {
        try setTimes(of: file) { _ in timespec(tv_sec: 0, tv_nsec: Self.omitTime) }
    }

    /// As above, and sets the modification time to `modified`, in seconds since 1970. Its nanoseconds are those of now:
    /// they tell this file from earlier ones with the same inode number.
    package func setTimes(of file: borrowing Descriptor, modified: Int) throws(FileFault) {
        try setTimes(of: file) { now in timespec(tv_sec: modified, tv_nsec: now.tv_nsec) }
    }

    private func setTimes(
        of file: borrowing Descriptor, change: (timespec) -> timespec
    ) throws(FileFault) {
        let number = file.number
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let times = [now, change(now)]
        try call(.setTimes, "") { unsafe futimens(number, times) }
    }

    /// UTIME_OMIT of futimens(3): Swift does not import the C macro.
    private static let omitTime = (1 << 30) - 2
}
