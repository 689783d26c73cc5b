import ImageCodecs
import SystemSupport

/// Decodes files on threads of its own, away from the cooperative pool.
struct FileDecoder: Sendable {
    let decoders: ImageDecoders
    let limits: DecodingLimits
    /// Nothing is decoded while it is critical; nil to decode always.
    let pressure: MemoryPressure?
    let threads: BlockingThreads

    /// Decodes a file to about the size that the request wants.
    /// - Throws: `.undecodable`, `.memoryShort`; and for lack of a thread `.resourcesShort`.
    func image(
        in file: LoadedFile, for request: ImageRequest
    ) async throws(ImageLoadingError) -> LoadedImage {
        if pressure?.level == .critical { throw .memoryShort(url: request.url.displayText) }
        let outcome: Result<LoadedImage, ImageDecodingError>
        do {
            outcome = try await threads.run {
                Result { () throws(ImageDecodingError) in try decode(file, for: request) }
            }
        } catch {
            throw ImageLoadingError(error, url: request.url.displayText)
        }
        switch outcome {
        case .success(let image): return image
        case .failure(let error): throw .undecodable(url: request.url.displayText, reason: error)
        }
    }

    private func decode(
        _ file: LoadedFile, for request: ImageRequest
    ) throws(ImageDecodingError) -> LoadedImage {
        let outcome: Result<LoadedImage, ImageDecodingError> = file.bytes.withBytes { bytes in
            do throws(ImageDecodingError) {
                let bitmap = try decoders.decode(bytes, sizing: request.sizing, limits: limits)
                // An incomplete image must not be stored.
                guard bitmap.isComplete else { return .failure(.truncated(offset: bytes.count)) }
                // Known already, unless the loader accepts any content.
                let header = if let header = file.header { header } else { try decoders.header(of: bytes) }
                return .success(
                    LoadedImage(
                        bitmap: bitmap, header: header, url: file.url, requestedURL: request.url,
                        // Only an image that memory had decoded is from memory.
                        source: file.source == .memory ? .decoded : file.source,
                        response: file.response, fileKey: request.key))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

extension ImageLoadingError {
    /// Whether the file itself is damaged, rather than beyond what the decoders can do or may do.
    var isDamagedFile: Bool {
        switch self {
        case .undecodable(_, .truncated), .undecodable(_, .corrupt): true
        default: false
        }
    }
}
