import FoundationEssentials
import Glibc
import SystemSupport

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
        let named = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 }
        do throws(FileFault) {
            file = try UnnamedFile(in: folder ?? named ?? "/var/tmp")
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

    /// The whole content in memory. Blocks.
    package func contents() throws(ImageLoadingError) -> [UInt8] {
        do throws(FileFault) {
            return try file.contents()
        } catch {
            throw .unreadableFile(path: name, reason: SystemError.text(error.code))
        }
    }

    private static func noRoom(for name: String, _ fault: FileFault) -> ImageLoadingError {
        if let shortage = ResourceShortage(code: fault.code) { return ImageLoadingError(shortage, url: name) }
        return .storageFailed(url: name, reason: fault.explanation)
    }
}
