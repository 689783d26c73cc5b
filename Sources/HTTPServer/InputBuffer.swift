import Glibc

/// Bytes received and not yet used. One read may bring half a head or three requests.
struct InputBuffer {
    private var bytes: [UInt8] = []
    /// The index of the first unused byte.
    private var start = 0
    /// The end of the head is searched for from here on, so that no byte is examined twice.
    private var searched = 0

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    var isEmpty: Bool { start == bytes.count }
    var count: Int { bytes.count - start }

    mutating func append(_ received: ArraySlice<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            searched = max(0, searched - start)
            start = 0
        }
        bytes += received
    }

    /// Takes the next whole head, without the blank line that ends it; nil if it has not come.
    ///
    /// Only CR LF ends a line. A server in front may take a line feed alone for the end of a line, or not: the two
    /// would see different requests (RFC 9112 section 11.2). Such a line ends the head: it is the last line of what
    /// this returns, with its line feed, and `RequestHead` refuses it.
    mutating func takeHead() -> ArraySlice<UInt8>? {
        searched = max(searched, start)
        while let feed = nextLineFeed(from: searched) {
            searched = feed + 1
            guard feed > start, bytes[feed - 1] == Self.carriageReturn else { return take(feed + 1 - start) }
            if feed == start + 1 {
                // Empty lines before a request are skipped and do not belong to it (RFC 9112 section 2.2).
                use(2)
            } else if bytes[feed - 2] == Self.lineFeed {
                return take(feed + 1 - start).dropLast(4)
            }
        }
        searched = bytes.count
        return nil
    }

    /// Takes a line with its carriage return, but without the line feed; nil if it has not come.
    mutating func takeLine() -> ArraySlice<UInt8>? {
        nextLineFeed(from: start).map { take($0 + 1 - start).dropLast() }
    }

    /// Takes at most `limit` bytes.
    mutating func take(atMost limit: Int) -> ArraySlice<UInt8> { take(min(limit, count)) }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let taken = bytes[start..<start + count]
        use(count)
        return taken
    }

    private mutating func use(_ count: Int) {
        start += count
        searched = start
        // An idle connection keeps no memory for bytes.
        if isEmpty { self = InputBuffer() }
    }

    /// The index of the next line feed. By memchr, which examines many bytes at once.
    private func nextLineFeed(from index: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { buffer -> Int? in
            guard let base = buffer.baseAddress, index < buffer.count,
                let feed = unsafe memchr(base + index, Int32(Self.lineFeed), buffer.count - index)
            else { return nil }
            return unsafe UnsafeRawPointer(feed) - base
        }
    }
}
