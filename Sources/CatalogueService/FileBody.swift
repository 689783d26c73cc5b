import Glibc

/// A part of an open file on its way to a client.
struct FileBody {
    let file: Int32
    let part: Range<Int>
    let client: ClientSocket
    let stop: StopSignal
    /// How long the client may take nothing.
    let timeout: Duration

    /// Bodies of limited bandwidth go out in this many pieces a second, and none larger than this.
    private static let piecesPerSecond = 20
    private static let maximumPiece = 64 << 10

    /// Sends all of it, at most `bandwidth` bytes a second counted from the first; false when the client is gone
    /// or the file has become shorter, and the promised length cannot be kept.
    func send(bandwidth: Int?) -> Bool {
        if let bandwidth { return sendPaced(bandwidth) }
        switch client.sendFile(file, part, timeout: timeout) {
        case .sent: return true
        case .failed: return false
        case .unsupported: return sendPieces(of: Self.maximumPiece) { _ in }
        }
    }

    private func sendPaced(_ bandwidth: Int) -> Bool {
        let start = ContinuousClock.now
        return sendPieces(of: min(max(1, bandwidth / Self.piecesPerSecond), Self.maximumPiece)) { sent in
            stop.pause(until: start + .seconds(Double(sent) / Double(bandwidth)))
        }
    }

    private func sendPieces(of size: Int, pause: (_ sent: Int) -> Void) -> Bool {
        var rest = part
        while !rest.isEmpty {
            guard let piece = sendPiece(rest.prefix(size)) else { return false }
            rest = rest.dropFirst(piece)
            pause(part.count - rest.count)
        }
        return true
    }

    /// Reads and sends up to a piece of the file, and returns how much that was; nil when it cannot go on.
    private func sendPiece(_ piece: Range<Int>) -> Int? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: piece.count) { buffer, filled in
            filled = max(0, unsafe pread(file, buffer.baseAddress, buffer.count, off_t(piece.lowerBound)))
        }
        guard !bytes.isEmpty, client.send(bytes[...], more: false, timeout: timeout) else { return nil }
        return bytes.count
    }
}

/// What is known of a file without reading it, and what HTTP says of it.
struct FileMetadata: Hashable, Sendable {
    /// Bytes.
    let size: Int
    /// When it was last changed: whole seconds since 1970 and the nanoseconds after them.
    let seconds: Int
    let nanoseconds: Int
    let inode: UInt64

    /// A strong entity tag (RFC 9110 section 8.8.3). A file replaced by renaming has another inode, one written
    /// in place another time; nanoseconds tell apart what happens within one second.
    var entityTag: String {
        let parts = [
            UInt64(bitPattern: Int64(size)), UInt64(bitPattern: Int64(seconds)),
            UInt64(bitPattern: Int64(nanoseconds)), inode,
        ]
        return "\"" + parts.map { String($0, radix: 16) }.joined(separator: "-") + "\""
    }
}
