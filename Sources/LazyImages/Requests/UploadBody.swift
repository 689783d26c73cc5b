import FoundationEssentials
import HTTPSemantics

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
        String(
            text.unicodeScalars.reduce(into: String.UnicodeScalarView()) { result, scalar in
                switch scalar {
                case "\"": result.append(contentsOf: "%22".unicodeScalars)
                case "\r": result.append(contentsOf: "%0D".unicodeScalars)
                case "\n": result.append(contentsOf: "%0A".unicodeScalars)
                default: result.append(scalar)
                }
            })
    }

    /// Drops control characters, so that a media type cannot add header lines.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}
