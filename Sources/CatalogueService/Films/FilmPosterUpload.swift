import FilmLibrary
import HTTPSemantics
import ImageCodecs
import SystemSupport

/// A picture uploaded as a film's poster: JPEG, PNG, WebP, GIF or BMP according to its bytes, decoded completely before
/// it is stored, and stored without the metadata of cameras and editors.
enum FilmPosterUpload {
    static let maximumBytes = 32 << 20
    /// The most pixels. They take 200 MB decoded, and up to three times that while they are checked.
    static let maximumPixels = 50_000_000
    static let mediaTypes = ImageDecoders.standard.mediaTypes.joined(separator: ", ")

    /// Throws if the Content-Type is not of a picture. The format follows from the bytes.
    static func checkType(_ fields: HeaderFields) throws(FilmRefusal) {
        try FilmContent.checkCoding(fields)
        for value in fields.values(of: "content-type") {
            guard let type = ContentType(value)?.mediaType,
                type.hasPrefix("image/") || type == "application/octet-stream"
            else {
                throw FilmRefusal(
                    .unsupportedMediaType, "send a picture with one of these as Content-Type: \(mediaTypes)",
                    fields: ["Accept": mediaTypes])
            }
        }
    }

    /// The picture to store.
    /// - Throws: 422 with the reason if it cannot be decoded.
    /// - Parameters:
    ///   - turn: the lock held while decoding, so that one picture is decoded at a time.
    ///   - keepsMetadata: whether the bytes are stored as they came.
    static func checked(
        _ bytes: [UInt8], _ turn: borrowing Lock<Void>, keepsMetadata: Bool
    ) throws(FilmRefusal) -> PosterBytes {
        guard bytes.count <= maximumBytes else {
            throw FilmRefusal(.contentTooLarge, "a poster has at most \(maximumBytes) bytes")
        }
        do throws(ImageDecodingError) {
            guard let format = ImageDecoders.standard.format(of: bytes) else { throw .unrecognized }
            let limits = DecodingLimits(inputBytes: maximumBytes, pixels: maximumPixels)
            let bitmap = try turn.withLock { _ throws(ImageDecodingError) in
                try ImageDecoders.standard.decode(bytes, limits: limits)
            }
            guard bitmap.isComplete else { throw .truncated(offset: bytes.count) }
            return PosterBytes(
                mediaType: format.mediaType, bytes: keepsMetadata ? bytes : try ImageMetadata.strip(bytes))
        } catch {
            throw .invalid("poster", "cannot be used: \(error)")
        }
    }
}
