/// A media type with its parameters, as in Content-Type (RFC 9110 section 8.3.1):
///
///     multipart/form-data; boundary="a b"
///     application/json;charset=utf-8
package struct ContentType: Sendable, Hashable {
    /// Type and subtype in lower case, such as `application/json`.
    package let mediaType: String
    /// Names in lower case; values as received, without quotes.
    package let parameters: [String: String]

    /// Reads a field; nil if it is malformed or repeats a parameter, since two readers could then disagree.
    package init?(_ text: String) {
        var pieces = ParameterList.pieces(of: text)[...]
        guard let first = pieces.popFirst() else { return nil }
        let sides = first.split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy(\.isToken),
            let parameters = ParameterList.parameters(pieces)
        else { return nil }
        mediaType = first.lowercased()
        self.parameters = parameters
    }

    /// Whether text of this type is UTF-8: by its charset, or because it has none.
    package var isUTF8: Bool {
        guard let charset = parameters["charset"]?.lowercased() else { return true }
        return ["utf-8", "utf8", "us-ascii"].contains(charset)
    }
}

/// The parameters of a field (RFC 9110 section 5.6.6). A semicolon in a quoted string does not separate.
package enum ParameterList {
    /// The pieces between semicolons, without surrounding white space; the first is the value itself. Skips empty
    /// pieces.
    package static func pieces(of text: String) -> [Substring] {
        FieldList.pieces(of: text, at: UInt8(ascii: ";"))
    }

    /// The parameters by name, in lower case; nil if one is malformed or repeated.
    package static func parameters(_ pieces: some Sequence<Substring>) -> [String: String]? {
        var parameters: [String: String] = [:]
        for piece in pieces {
            guard let equals = piece.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = piece[..<equals]
            let value = piece[piece.utf8.index(after: equals)...]
            let key = name.lowercased()
            guard name.isToken, parameters[key] == nil else { return nil }
            if let text = FieldList.unquoted(value) {
                parameters[key] = text
            } else {
                guard value.isToken else { return nil }
                parameters[key] = String(value)
            }
        }
        return parameters
    }
}

/// The media type of a file, by its filename extension.
package enum MediaType {
    package static let plainText = "text/plain; charset=utf-8"

    private static let byEnding: [String: String] = [
        "json": "application/json", "xml": "application/xml", "txt": plainText,
        "html": "text/html; charset=utf-8",
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif",
        "webp": "image/webp",
        "avif": "image/avif", "svg": "image/svg+xml", "jfif": "image/jpeg", "heic": "image/heic",
        "heif": "image/heif", "jxl": "image/jxl", "tif": "image/tiff", "tiff": "image/tiff",
        "bmp": "image/bmp", "ico": "image/vnd.microsoft.icon",
        // Pictures that other programs read. The types are those of Debian's /etc/mime.types. Those of tga, exr, dng,
        // arw and raf are freedesktop.org's (shared-mime-info); that of qoi is from the format's specification.
        "apng": "image/apng", "jp2": "image/jp2", "jpx": "image/jpx", "jxr": "image/jxr",
        "pbm": "image/x-portable-bitmap", "pgm": "image/x-portable-graymap",
        "pnm": "image/x-portable-anymap", "ppm": "image/x-portable-pixmap",
        "psd": "image/vnd.adobe.photoshop", "djvu": "image/vnd.djvu", "pcx": "image/vnd.zbrush.pcx",
        "tga": "image/x-tga", "qoi": "image/qoi", "exr": "image/x-exr", "hdr": "image/vnd.radiance",
        "xbm": "image/x-xbitmap", "xpm": "image/x-xpixmap", "xcf": "image/x-xcf",
        "dng": "image/x-adobe-dng", "cr2": "image/x-canon-cr2", "nef": "image/x-nikon-nef",
        "arw": "image/x-sony-arw", "orf": "image/x-olympus-orf", "raf": "image/x-fuji-raf",
        // Videos, by the same sources; that of mkv is IANA's.
        "mp4": "video/mp4", "m4v": "video/mp4", "mkv": "video/matroska", "webm": "video/webm",
        "avi": "video/x-msvideo", "mov": "video/quicktime", "mpg": "video/mpeg", "mpeg": "video/mpeg",
        "ts": "video/mp2t", "m2ts": "video/mp2t", "wmv": "video/x-ms-wmv", "flv": "video/x-flv",
        "ogv": "video/ogg", "3gp": "video/3gpp",
    ]

    /// Whether files of a media type are text, which is worth compressing.
    package static func isText(_ mediaType: String) -> Bool {
        mediaType.hasPrefix("text/")
            || ["application/json", "application/xml", "image/svg+xml"].contains(mediaType)
    }

    /// Whether a file's name has the ending of a picture.
    package static func isPicture(_ name: [UInt8]) -> Bool { of(name).hasPrefix("image/") }

    package static func of(_ name: [UInt8]) -> String {
        let text = String(decoding: name, as: UTF8.self)
        guard let dot = text.lastIndex(of: ".") else { return "application/octet-stream" }
        return byEnding[text[text.index(after: dot)...].lowercased()] ?? "application/octet-stream"
    }
}
