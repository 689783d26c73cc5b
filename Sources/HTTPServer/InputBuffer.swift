/// Bytes received and not yet used. One read may bring half a head or three requests.
struct InputBuffer {
    private var bytes: [UInt8] = []
    /// The index of the first unused byte.
    private var start = 0
    /// The end of the head is searched for from here on, so that no byte is examined twice.
    private var searched = 0

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
    mutating func takeHead() -> ArraySlice<UInt8>? {
        // Empty lines before a request are skipped and do not belong to it (RFC 9112 section 2.2).
        if searched <= start { skipEmptyLines() }
        searched = max(searched, start)
        let lineFeed = UInt8(ascii: "\n")
        while let feed = bytes[searched...].firstIndex(of: lineFeed) {
            var next = feed + 1
            if next < bytes.count, bytes[next] == UInt8(ascii: "\r") { next += 1 }
            guard next < bytes.count else {
                // The next byte will tell whether this line is the last.
                searched = feed
                return nil
            }
            searched = feed + 1
            guard bytes[next] == lineFeed else { continue }
            var head = bytes[start..<feed]
            if head.last == UInt8(ascii: "\r") { head = head.dropLast() }
            use(next + 1 - start)
            return head
        }
        searched = bytes.count
        return nil
    }

    /// Takes a line with its carriage return, but without the line feed; nil if it has not come.
    mutating func takeLine() -> ArraySlice<UInt8>? {
        guard let feed = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = bytes[start..<feed]
        use(feed + 1 - start)
        return line
    }

    /// Takes at most `limit` bytes.
    mutating func take(atMost limit: Int) -> ArraySlice<UInt8> {
        let taken = bytes[start..<start + min(limit, count)]
        use(taken.count)
        return taken
    }

    private mutating func use(_ count: Int) {
        start += count
        searched = start
        // An idle connection keeps no memory for bytes.
        if isEmpty { self = InputBuffer() }
    }

    private mutating func skipEmptyLines() {
        let isLineEnd = { (byte: UInt8) in byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }
        let count = bytes[start...].prefix(while: isLineEnd).count
        if count > 0 { use(count) }
    }
}
