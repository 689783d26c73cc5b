import ImageCodecs

/// The error of decoding `bytes`; nil for a picture.
func decodingError(_ bytes: [UInt8], limits: DecodingLimits = .standard) -> ImageDecodingError? {
    do throws(ImageDecodingError) {
        return try ImageDecoders.standard.decode(bytes, limits: limits).damage
    } catch {
        return error
    }
}

/// The segment that the error names; nil unless it is `corrupt`.
func corruptSegment(_ bytes: [UInt8]) -> String? {
    if case .corrupt(let segment, _) = decodingError(bytes) { segment } else { nil }
}

/// The feature that the error names; nil unless it is `unsupported`.
func unsupportedFeature(_ bytes: [UInt8]) -> String? {
    if case .unsupported(let feature) = decodingError(bytes) { feature } else { nil }
}

/// The limit that the error names; nil unless it is `tooLarge`.
func exceededLimit(_ bytes: [UInt8], limits: DecodingLimits = .standard) -> ImageDecodingError.Limit? {
    if case .tooLarge(let limit, _, _) = decodingError(bytes, limits: limits) { limit } else { nil }
}

func isTruncated(_ bytes: [UInt8]) -> Bool {
    if case .truncated = decodingError(bytes) { true } else { false }
}
