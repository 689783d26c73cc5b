import FoundationEssentials
import Glibc
import HTTPSemantics
import LazyImages
import MovieCatalogue
import PictureService

/// The file that `marquee upload` sends: a file, standard input, or a picture made from either. Every call blocks.
struct UploadedFile: Sendable {
    private enum Content {
        case path(String)
        case stream(SpooledStream)
        case bytes([UInt8])
    }

    /// The file name for the server. In a form, standard input has the field's name instead.
    private(set) var name: String?
    private(set) var mediaType: String
    /// Its name in messages.
    private let title: String
    private var content: Content

    /// The most bytes of JSON or XML that are checked.
    private static let checkedLimit = 16 << 20

    /// - Parameters:
    ///   - word: a path; or `-` for standard input, which is read to its end.
    ///   - type: the media type. Default: from the name's ending.
    init(_ word: String, type: String?) throws(ImageLoadingError) {
        let isInput = word == "-"
        title = isInput ? "standard input" : word
        name = isInput ? nil : URL(filePath: word).lastPathComponent
        mediaType = type ?? MediaType.of(Array(word.utf8))
        content = isInput ? .stream(try SpooledStream(STDIN_FILENO)) : .path(word)
    }

    /// Replaces the file by a picture of it. Name and type then follow from the picture's bytes.
    /// - Parameter limit: the most bytes of the file.
    mutating func replaceByPicture(by recipe: PictureRecipe, limit: Int) throws(Failure) {
        let bytes = try all(limit: limit) { limit in
            Failure(
                "\(title): larger than \(ByteCount.text(limit)), the limit for making a picture; "
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

    /// Checks JSON and XML, so that malformed files are not sent. The checked bytes are sent, even if the file changes
    /// meanwhile.
    mutating func check() throws(Failure) {
        guard let grammar = ContentType(mediaType).flatMap({ DocumentGrammar(mediaType: $0.mediaType) })
        else { return }
        let unchecked = "send it unchecked with --type application/octet-stream"
        let bytes = try all(limit: Self.checkedLimit) { limit in
            Failure(
                "\(title): \(grammar.rawValue) can only be checked up to \(ByteCount.text(limit)); "
                    + unchecked, code: "too-large")
        }
        do throws(CatalogueError) {
            try grammar.check(bytes)
        } catch .empty {
            throw Failure(
                "\(title): it is empty, so it is not \(grammar.rawValue); \(unchecked)", code: "malformed")
        } catch {
            throw Failure("\(title): \(error); correct it, or \(unchecked)", code: "malformed")
        }
        content = .bytes(bytes)
    }

    /// The file as the whole body.
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

    /// The whole file, in memory.
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
    /// The library's error, with advice for the user.
    init(_ error: ImageLoadingError) { self.init(error.advised, code: error.code) }
}
