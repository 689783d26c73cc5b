import FoundationEssentials
import ImageCodecs
import LazyImages

/// A poster on this machine that is to be sent.
struct PosterFile: Sendable {
    let path: String
    let mediaType: String

    /// Looks at the beginning of the file: a service takes pictures only, and says so later.
    init(_ path: String) async throws(Failure) {
        let bytes = try await Input.file(path)
        switch bytes.prefix(8) {
        case let beginning where beginning.starts(with: [0xFF, 0xD8, 0xFF]): mediaType = "image/jpeg"
        case [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]: mediaType = "image/png"
        default: throw Failure("\(path): it is neither a JPEG nor a PNG; name another poster")
        }
        self.path = path
    }
}

/// What `--poster` names.
enum PosterArgument: Sendable {
    /// An address that the film gets as it is.
    case address(String)
    case file(PosterFile)
    /// The film has none.
    case none

    init(_ text: String) async throws(Failure) {
        if text.isEmpty {
            self = .none
        } else if text.contains("://") {
            self = .address(text)
        } else {
            self = .file(try await PosterFile(text))
        }
    }
}
