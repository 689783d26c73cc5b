import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// The body of an upload: bytes, a file, a stream, or the parts of a form. Files are read while they are sent, 64 KiB
/// at a time.
///
///     .bytes(Array(json.utf8), mediaType: "application/json")
///     .file("poster.jpg", mediaType: "image/jpeg")
///     .form([.field("title", "Metropolis"), .file("poster", path: "poster.jpg", mediaType: "image/jpeg")])
public struct UploadBody: Sendable {
    /// A piece of a body, in the order in which it is sent.
    enum Piece: Sendable {
        case bytes([UInt8])
        case file(path: String)
        case stream(SpooledStream)
    }

    let pieces: [Piece]
    /// Sent as `Content-Type`, unless the request's fields have one; nil for none.
    package let mediaType: String?

    /// Bytes in memory.
    /// - Parameters:
    ///   - bytes: the whole body.
    ///   - mediaType: sent as `Content-Type`; nil for none.
    public static func bytes(_ bytes: [UInt8], mediaType: String? = nil) -> UploadBody {
        UploadBody(pieces: [.bytes(bytes)], mediaType: mediaType)
    }

    /// The file at a path. The upload opens it, and fails if the file changes before its last byte is sent.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - mediaType: sent as `Content-Type`; nil for none.
    public static func file(_ path: String, mediaType: String? = nil) -> UploadBody {
        UploadBody(pieces: [.file(path: path)], mediaType: mediaType)
    }

    /// The content of a stream.
    /// - Parameters:
    ///   - stream: a stream that was read to its end.
    ///   - mediaType: sent as `Content-Type`; nil for none.
    public static func stream(_ stream: SpooledStream, mediaType: String? = nil) -> UploadBody {
        UploadBody(pieces: [.stream(stream)], mediaType: mediaType)
    }

    /// The fields of a form without files, as `application/x-www-form-urlencoded`: `title=El%20Camino&year=2019`.
    /// - Parameter fields: names and values, in their order.
    public static func urlEncoded(_ fields: [(name: String, value: String)]) -> UploadBody {
        let text = fields.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }
            .joined(separator: "&")
        return .bytes(Array(text.utf8), mediaType: "application/x-www-form-urlencoded")
    }

    /// The parts of a form, as `multipart/form-data` (RFC 7578). The boundary between them is 128 random bits, which no
    /// content holds by chance.
    /// - Parameter parts: the parts, in their order.
    public static func form(_ parts: [FormPart]) -> UploadBody {
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        return form(parts, boundary: "marquee-" + random.joined())
    }

    /// As above, with a given boundary.
    ///
    ///     --marquee-5f3a
    ///     Content-Disposition: form-data; name="title"
    ///
    ///     Metropolis
    ///     --marquee-5f3a
    ///     Content-Disposition: form-data; name="poster"; filename="poster.jpg"
    ///     Content-Type: image/jpeg
    ///
    ///     (the file's bytes)
    ///     --marquee-5f3a--
    static func form(_ parts: [FormPart], boundary: String) -> UploadBody {
        var pieces: [Piece] = []
        for part in parts {
            pieces.append(.bytes(Array("--\(boundary)\r\n\(part.header)\r\n\r\n".utf8)))
            pieces.append(part.content)
            pieces.append(.bytes(Array("\r\n".utf8)))
        }
        pieces.append(.bytes(Array("--\(boundary)--\r\n".utf8)))
        return UploadBody(pieces: pieces, mediaType: "multipart/form-data; boundary=\(boundary)")
    }

    /// Opens the files of the body, until the result is released. Blocks: not for the cooperative pool.
    /// - Throws: `.unreadableFile`, `.resourcesShort`.
    package func open() throws(ImageLoadingError) -> OpenBody { try OpenBody(self) }
}

/// One part of a form: a name and a value, or a name and a file.
public struct FormPart: Sendable {
    let name: String
    let fileName: String?
    let mediaType: String?
    let content: UploadBody.Piece

    /// A field with text.
    /// - Parameters:
    ///   - name: the field's name.
    ///   - value: its text.
    public static func field(_ name: String, _ value: String) -> FormPart {
        FormPart(name: name, fileName: nil, mediaType: nil, content: .bytes(Array(value.utf8)))
    }

    /// The file at a path.
    /// - Parameters:
    ///   - name: the field's name.
    ///   - path: the path of the file.
    ///   - fileName: the file name in the form. Default: the last part of the path.
    ///   - mediaType: the file's media type.
    public static func file(
        _ name: String, path: String, fileName: String? = nil, mediaType: String = "application/octet-stream"
    ) -> FormPart {
        FormPart(
            name: name, fileName: fileName ?? URL(filePath: path).lastPathComponent, mediaType: mediaType,
            content: .file(path: path))
    }

    /// The content of a stream, as a file.
    /// - Parameters:
    ///   - name: the field's name.
    ///   - stream: a stream that was read to its end.
    ///   - fileName: the file name in the form.
    ///   - mediaType: the stream's media type.
    public static func file(
        _ name: String, stream: SpooledStream, fileName: String,
        mediaType: String = "application/octet-stream"
    ) -> FormPart {
        FormPart(name: name, fileName: fileName, mediaType: mediaType, content: .stream(stream))
    }

    /// A file in memory.
    /// - Parameters:
    ///   - name: the field's name.
    ///   - bytes: the whole file.
    ///   - fileName: the file name in the form.
    ///   - mediaType: the file's media type.
    public static func file(
        _ name: String, bytes: [UInt8], fileName: String, mediaType: String = "application/octet-stream"
    ) -> FormPart {
        FormPart(name: name, fileName: fileName, mediaType: mediaType, content: .bytes(bytes))
    }

    /// The lines above the content.
    var header: String {
        var header = "Content-Disposition: form-data; name=\"\(Self.quoted(name))\""
        if let fileName { header += "; filename=\"\(Self.quoted(fileName))\"" }
        if let mediaType { header += "\r\nContent-Type: \(Self.oneLine(mediaType))" }
        return header
    }

    /// Percent-encodes quotes and line breaks, as browsers do (RFC 7578 section 5.1).
    private static func quoted(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "%22"
            case "\r": "%0D"
            case "\n": "%0A"
            default: String(scalar)
            }
        }.joined()
    }

    /// Drops control characters, so that a media type cannot add header lines.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}

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

/// The whole content of a stream, such as standard input, in a file without a name. Its length is known, and a retry
/// can start from the first byte. The system removes the file with the object, or with the process.
///
///     let input = try SpooledStream(STDIN_FILENO)
///     let request = try UploadRequest("https://nas.example/in", .put, .stream(input, mediaType: "video/mp4"))
public final class SpooledStream: Sendable {
    /// How much is read at once, in bytes.
    private static let pieceSize = 64 * 1024

    private let file: UnnamedFile
    private let name: String

    /// The length in bytes.
    public var count: Int { file.count }

    /// Reads a stream to its end. Blocks until the writer closes it: not for the cooperative pool.
    /// - Parameters:
    ///   - descriptor: the stream, which stays open.
    ///   - name: the stream's name in errors.
    ///   - folder: the folder of the file. Default: `TMPDIR`, else `/var/tmp`, which is on a disk and not in memory.
    /// - Throws: `.unreadableFile`; `.storageFailed` if the folder has no room.
    public init(
        _ descriptor: Int32, name: String = "standard input", folder: String? = nil
    ) throws(ImageLoadingError) {
        self.name = name
        do throws(FileFault) {
            file = try UnnamedFile(in: folder ?? UserFolder.temporary)
        } catch {
            throw Self.noRoom(for: name, error)
        }
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        while true {
            let count = unsafe Glibc.read(descriptor, &piece, piece.count)
            if count == 0 { return }
            if count < 0 {
                switch errno {
                case EINTR: continue
                case EAGAIN: _ = Polling.ready([(descriptor, POLLIN)])
                case let code: throw .unreadableFile(path: name, reason: SystemError.text(code))
                }
                continue
            }
            do throws(FileFault) {
                try file.append(piece.span.extracting(first: count))
            } catch {
                throw Self.noRoom(for: name, error)
            }
        }
    }

    /// Fills the buffer from an offset on. Nobody else can change the file: a short read means a broken disk.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ImageLoadingError) {
        let count: Int
        do throws(FileFault) {
            count = try unsafe FileCalls().read(file.descriptor, into: buffer, at: offset)
        } catch {
            throw .unreadableFile(path: name, reason: SystemError.text(error.code))
        }
        guard count == buffer.count else { throw .fileChanged(path: name) }
    }

    private static func noRoom(for name: String, _ fault: FileFault) -> ImageLoadingError {
        if let shortage = ResourceShortage(code: fault.code) { return ImageLoadingError(shortage, url: name) }
        return .storageFailed(url: name, reason: fault.description)
    }
}
