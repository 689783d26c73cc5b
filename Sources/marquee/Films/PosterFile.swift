import FoundationEssentials
import ImageCodecs
import LazyImages
import SystemSupport

/// A poster file to send.
struct PosterFile: Sendable {
    let path: String
    let mediaType: String
    /// Keeps the bytes of a pipe; nil for a file.
    private let pipe: FetchTarget?

    /// Checks the beginning of the file: a service would refuse a file that is not a picture, but later. A pipe, such as
    /// standard input, is read to its end.
    init(_ word: String, _ session: Session) async throws(Failure) {
        pipe = FileKind(word) == .stream ? try await FetchTarget(file: word).readingPipe(session) : nil
        path = pipe?.filePath ?? word
        let name = pipe?.displayText ?? word
        var beginning = [UInt8](repeating: 0, count: 32)
        let status: FileStatus
        do {
            let calls = FileCalls()
            let file = try calls.openForReading(path: path)
            status = try calls.status(of: file)
            let count = status.isFile ? try calls.read(file, into: &beginning) : 0
            beginning.removeLast(beginning.count - count)
        } catch {
            throw Failure("\(name): \(SystemError.text(error.code)); check the path")
        }
        guard status.isFile else { throw Failure("\(name): it is a folder; name a picture") }
        if beginning.isEmpty { throw Failure("\(name): it is empty; name a picture") }
        guard let format = ImageDecoders.standard.format(of: beginning.span),
            ImageDecoders.standard.format(named: format.name) != nil
        else { throw Failure("\(name): it is not a JPEG, PNG, WebP, GIF or BMP; name another poster") }
        mediaType = format.mediaType
    }
}

/// The value of `--poster`.
enum PosterArgument: Sendable {
    /// An address, which the film gets unchanged.
    case address(String)
    case file(PosterFile)
    /// The film has no poster.
    case none

    init(_ text: String, _ session: Session) async throws(Failure) {
        if text.isEmpty {
            self = .none
        } else if text.contains("://") {
            _ = try Failure.naming("--poster") { try URL(typed: text) }
            self = .address(text)
        } else {
            self = .file(try await PosterFile(text, session))
        }
    }
}
