import Glibc
import SystemSupport

/// A request's body with its files open. Its length is known, and any part of it can be read at any time, so that a
/// retry can start from the first byte. Immutable; closes its files when it is released.
public final class OpenBody: Sendable {
    private struct Segment {
        /// Where it begins in the body.
        let start: Int
        let count: Int
        let content: Content

        enum Content {
            case bytes([UInt8])
            case file(OpenFile)
            case stream(SpooledStream)
        }
    }

    private let segments: [Segment]
    /// The length in bytes.
    public let count: Int

    /// An empty body.
    init() {
        segments = []
        count = 0
    }

    init(_ body: UploadBody) throws(ImageLoadingError) {
        var segments: [Segment] = []
        var count = 0
        for piece in body.pieces {
            let segment: Segment
            switch piece {
            case .bytes(let bytes):
                segment = Segment(start: count, count: bytes.count, content: .bytes(bytes))
            case .file(let path):
                let file = try OpenFile(path)
                segment = Segment(start: count, count: file.identity.size, content: .file(file))
            case .stream(let stream):
                segment = Segment(start: count, count: stream.count, content: .stream(stream))
            }
            segments.append(segment)
            count += segment.count
        }
        self.segments = segments
        self.count = count
    }

    /// At most `limit` bytes from an offset on; fewer only at the end. Blocks while it reads a file.
    /// - Parameters:
    ///   - offset: where to begin, from 0.
    ///   - limit: the most bytes to read.
    /// - Throws: `.fileChanged` if a file has changed since it was opened; `.unreadableFile`.
    public func bytes(at offset: Int, limit: Int) throws(ImageLoadingError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, min(limit, count - offset)))
        var span = bytes.mutableSpan
        let read = try unsafe span.withUnsafeMutableBytes { buffer throws(ImageLoadingError) in
            try unsafe self.read(at: offset, into: buffer)
        }
        bytes.removeLast(bytes.count - read)
        return bytes
    }

    /// Fills a buffer with the bytes from an offset on. Returns the count, which is less than the buffer's only at the
    /// end.
    /// - Throws: as `bytes(at:limit:)`.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ImageLoadingError) -> Int {
        var done = 0
        for segment in segments {
            let skipped = offset + done - segment.start
            guard skipped >= 0, skipped < segment.count, done < buffer.count else { continue }
            let wanted = min(segment.count - skipped, buffer.count - done)
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + wanted])
            switch segment.content {
            case .bytes(let bytes): unsafe target.copyBytes(from: bytes[skipped..<skipped + wanted])
            case .file(let file): try unsafe file.read(at: skipped, into: target)
            case .stream(let stream): try unsafe stream.read(at: skipped, into: target)
            }
            done += wanted
        }
        return done
    }
}

/// An open file and its identity when it was opened.
private final class OpenFile: Sendable {
    private let path: String
    private let descriptor: Descriptor
    let identity: FileIdentity
    private static let calls = FileCalls()

    init(_ path: String) throws(ImageLoadingError) {
        self.path = path
        let status: FileStatus
        do {
            descriptor = try Self.calls.openForReading(path: path)
            status = try Self.calls.status(of: descriptor)
        } catch {
            if let shortage = ResourceShortage(code: error.code) { throw .init(shortage, url: path) }
            throw .unreadableFile(path: path, reason: SystemError.text(error.code))
        }
        // A pipe or a device has no length.
        guard status.isFile else {
            throw .unreadableFile(
                path: path, reason: status.isFolder ? "it is a folder" : "it is not a regular file")
        }
        identity = status.identity
    }

    /// Fills the buffer. Compares the identity after the read, to notice writes before it.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ImageLoadingError) {
        let count: Int
        let now: FileIdentity
        do {
            count = try unsafe Self.calls.read(descriptor, into: buffer, at: offset)
            now = try Self.calls.status(of: descriptor).identity
        } catch {
            throw .unreadableFile(path: path, reason: SystemError.text(error.code))
        }
        guard count == buffer.count, now == identity else { throw .fileChanged(path: path) }
    }
}
