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
