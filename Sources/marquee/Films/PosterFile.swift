import FoundationEssentials
import ImageCodecs
import LazyImages
import SystemSupport

/// A poster file to send.
struct PosterFile: Sendable {
    let path: String
    let mediaType: String

    /// Checks the beginning of the file: a service would refuse a file that is not a picture, but later.
    init(_ path: String) throws(Failure) {
        var beginning = [UInt8](repeating: 0, count: 32)
        let status: FileStatus
        do {
            let calls = FileCalls()
            let file = try calls.openForReading(path: path)
            status = try calls.status(of: file)
            let count = status.isFile ? try calls.read(file, into: &beginning) : 0
            beginning.removeLast(beginning.count - count)
        } catch {
            throw Failure("\(path): \(SystemError.text(error.code)); check the path")
        }
        guard status.isFile else {
            throw Failure(
                "\(path): it is \(status.isFolder ? "a folder" : "not a file"); name a picture"
            )
        }
        guard let format = ImageDecoders.standard.format(of: beginning.span),
            ImageDecoders.standard.format(named: format.name) != nil
        else { throw Failure("\(path): it is not a JPEG, PNG, WebP, GIF or BMP; name another poster") }
        mediaType = format.mediaType
        self.path = path
    }
}

/// The value of `--poster`.
enum PosterArgument: Sendable {
    /// An address, which the film gets unchanged.
    case address(String)
    case file(PosterFile)
    /// The film has no poster.
    case none

    init(_ text: String) throws(Failure) {
        if text.isEmpty {
            self = .none
        } else if text.contains("://") {
            _ = try Failure.naming("--poster") { try URL(typed: text) }
            self = .address(text)
        } else {
            self = .file(try PosterFile(text))
        }
    }
}
