import FoundationEssentials
import Glibc
import HTTPSemantics
import LazyImages
import MovieCatalogue
import PictureService

/// The file that `marquee upload` sends: one of this machine, what standard input had, or the picture that is made of
/// either. Everything here blocks.
struct UploadedFile: Sendable {
    private enum Content {
        case path(String)
        case stream(SpooledStream)
        case bytes([UInt8])
    }

    /// What the server is told; the field of a form takes the place of one that standard input does not have.
    private(set) var name: String?
    private(set) var mediaType: String
    /// As messages call it.
    private let title: String
    private var content: Content

    /// JSON and XML are checked up to so many bytes.
    private static let checkedLimit = 16 << 20

    /// - Parameters:
    ///   - word: a path; `-` for standard input, which is read to its end.
    ///   - type: the media type. Default: by the name's ending.
    init(_ word: String, type: String?) throws(ImageLoadingError) {
        let isInput = word == "-"
        title = isInput ? "standard input" : word
        name = isInput ? nil : URL(filePath: word).lastPathComponent
        mediaType = type ?? MediaType.of(Array(word.utf8))
        content = isInput ? .stream(try SpooledStream(STDIN_FILENO)) : .path(word)
    }

    /// Makes the picture anew. Its bytes are sent then, and neither name nor type says more than they hold.
    /// - Parameter limit: the most bytes that the file may have.
    mutating func remake(by recipe: PictureRecipe, limit: Int) throws(Failure) {
        let bytes = try all(limit: limit) { limit in
            Failure(
                "\(title): larger than \(ByteCount.text(limit)), the most that a picture is made of; "
                    + "allow more with --max-bytes", code: "too-large")
        }
        do throws(PictureError) {
            let picture = try Picture.picture(of: ImageBytes(bytes), recipe)
            content = .bytes(picture.bytes.array)
            mediaType = picture.format.mediaType
            name = name.map {
                URL(filePath: $0).deletingPathExtension().lastPathComponent + "."
                    + picture.format.fileExtension
            }
        } catch {
            throw Failure("\(title): \(error); leave out --recipe to send it as it is", code: "undecodable")
        }
    }

    /// Checks JSON and XML, so that what breaks their grammar is not sent. What was checked is what is sent, whatever becomes
    /// of the file.
    mutating func check() throws(Failure) {
        guard let grammar = ContentType(mediaType).flatMap({ DocumentGrammar(mediaType: $0.mediaType) })
        else { return }
        let unchecked = "send it unchecked with --type application/octet-stream"
        let bytes = try all(limit: Self.checkedLimit) { limit in
            Failure(
                "\(title): \(grammar.rawValue) is checked before it is sent, up to \(ByteCount.text(limit)); "
                    + unchecked, code: "too-large")
        }
        do throws(CatalogueError) {
            try grammar.check(bytes)
        } catch .empty {
            throw Failure(
                "\(title): it is empty, and no \(grammar.rawValue); \(unchecked)", code: "malformed")
        } catch {
            throw Failure("\(title): \(error); correct it, or \(unchecked)", code: "malformed")
        }
        content = .bytes(bytes)
    }

    /// The file alone.
    var body: UploadBody {
        switch content {
        case .path(let path): .file(path, mediaType: mediaType)
        case .stream(let stream): .stream(stream, mediaType: mediaType)
        case .bytes(let bytes): .bytes(bytes, mediaType: mediaType)
        }
    }

    /// The file as a part of a form.
    func part(_ field: String) -> FormPart {
        let name = name ?? field
        return switch content {
        case .path(let path): .file(field, path: path, fileName: name, mediaType: mediaType)
        case .stream(let stream): .file(field, stream: stream, fileName: name, mediaType: mediaType)
        case .bytes(let bytes): .file(field, bytes: bytes, fileName: name, mediaType: mediaType)
        }
    }

    /// The SHA-256 of the file, 64 lower-case hexadecimal digits.
    func checksum() throws(ImageLoadingError) -> String {
        let body = try body.open()
        var hash = SHA256()
        var offset = 0
        while offset < body.count {
            let piece = try body.bytes(at: offset, limit: 1 << 20)
            hash.update(piece.span)
            offset += piece.count
        }
        return hash.finish().hexadecimal
    }

    /// All of it in memory.
    private func all(limit: Int, tooLarge: (Int) -> Failure) throws(Failure) -> [UInt8] {
        do throws(ImageLoadingError) {
            let body = try body.open()
            if body.count <= limit { return try body.bytes(at: 0, limit: limit) }
        } catch {
            throw Failure(error)
        }
        throw tooLarge(limit)
    }
}

extension Failure {
    /// The library's error, with what the user can do about it.
    init(_ error: ImageLoadingError) { self.init(error.advised, code: error.code) }
}
