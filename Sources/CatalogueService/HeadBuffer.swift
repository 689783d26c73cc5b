/// Bytes received and not yet used, out of which request heads are cut: one read may bring half a head or three.
struct HeadBuffer {
    private var bytes: [UInt8] = []
    /// How far the end of the head has been looked for, so that bytes that trickle in are looked at once.
    private var searched = 0

    /// Whether nothing has come that is not used.
    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }

    mutating func append(_ received: [UInt8]) { bytes += received }

    /// Takes the next complete head, without the blank line that ends it; nil until there is one.
    mutating func takeHead() -> [UInt8]? {
        // Empty lines before a request are skipped (RFC 9112 section 2.2), and are not its beginning. Not sooner:
        // what follows a head may be a body, and that may begin with anything.
        if searched == 0 { skipEmptyLines() }
        let lineFeed = UInt8(ascii: "\n")
        while let feed = bytes[searched...].firstIndex(of: lineFeed) {
            var next = feed + 1
            if next < bytes.count, bytes[next] == UInt8(ascii: "\r") { next += 1 }
            guard next < bytes.count else {
                // Whether this line is the last is not known yet.
                searched = feed
                return nil
            }
            searched = feed + 1
            guard bytes[next] == lineFeed else { continue }
            var head = bytes[..<feed]
            if head.last == UInt8(ascii: "\r") { head = head.dropLast() }
            let result = Array(head)
            bytes.removeFirst(next + 1)
            searched = 0
            return result
        }
        searched = bytes.count
        return nil
    }

    /// Takes up to `count` bytes of a body and returns how many there were.
    mutating func discard(_ count: Int) -> Int {
        let taken = min(count, bytes.count)
        bytes.removeFirst(taken)
        searched = 0
        return taken
    }

    private mutating func skipEmptyLines() {
        let isLineEnd = { (byte: UInt8) in byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }
        if let first = bytes.first, isLineEnd(first) {
            bytes.removeFirst(bytes.prefix(while: isLineEnd).count)
        }
    }
}
