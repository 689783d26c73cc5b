import ImageCodecs
import SystemSupport

/// Decodes files on threads of its own, away from the cooperative pool.
struct FileDecoder: Sendable {
    let decoders: ImageDecoders
    let limits: DecodingLimits
    /// Nothing is decoded while it is critical; nil to decode always.
    let pressure: MemoryPressure?
    let threads: BlockingThreads
    private let budget: DecodeBudget

    init(
        decoders: ImageDecoders, limits: DecodingLimits, pressure: MemoryPressure?, threads: BlockingThreads
    ) {
        (self.decoders, self.limits, self.pressure, self.threads) = (decoders, limits, pressure, threads)
        budget = DecodeBudget(limit: limits.memory)
    }

    /// - Parameter bytes: the file's, or those of its stored result.
    private func image(
        _ bytes: ImageBytes, of file: LoadedFile, for request: ImageRequest, _ pipeline: ImagePipeline
    ) async throws(ImageLoadingError) -> LoadedImage {
        if pressure?.level == .critical { throw .memoryShort(url: request.url.displayText) }
        let shortage = { @Sendable in ImageLoadingError($0, url: request.url.displayText) }
        let memory = try await threads.run(shortage) { () throws(ImageLoadingError) in
            bytes.memory(toDecodeBy: request.decoders ?? decoders, pipeline.sizing)
        }
        return try await budget.run(needing: memory) { () async throws(ImageLoadingError) in
            try await threads.run(shortage) { () throws(ImageLoadingError) in
                try bytes.withBytes { decode($0, of: file, for: request, pipeline) }.get()
            }
        }
    }

    private func decode(
        _ bytes: Span<UInt8>, of file: LoadedFile, for request: ImageRequest, _ pipeline: ImagePipeline
    ) -> Result<LoadedImage, ImageLoadingError> {
        do throws(ImageDecodingError) {
            let decoders = request.decoders ?? decoders
            let bitmap = try decoders.decode(bytes, sizing: pipeline.sizing, limits: limits)
            let damage = bitmap.damage ?? file.damage
            if let damage, !request.acceptsDamage { throw damage }
            // Known already, unless the loader accepts any content.
            let header = if let header = file.header { header } else { try decoders.header(of: bytes) }
            return Result { () throws(ImageProcessingError) in
                try bitmap.processed(by: pipeline.steps, limits: limits)
            }.map { bitmap in
                LoadedImage(
                    bitmap: bitmap, header: header, damage: damage, url: file.url, requestedURL: request.url,
                    // Only an image that memory had decoded is from memory.
                    source: file.source == .memory ? .decoded : file.source,
                    response: file.response, fileKey: request.key)
            }.mapError { .processingFailed(url: request.url.displayText, reason: $0) }
        } catch {
            return .failure(.undecodable(url: request.url.displayText, reason: error))
        }
    }

    /// Decodes a file to about the size that the request wants, and processes it.
    /// - Parameters:
    ///   - disk: keeps the results of requests that ask for it; nil for none.
    ///   - mayStore: whether the result may be stored now.
    /// - Returns: the image; and if the disk has it as a result now, the SHA-256 of the file.
    /// - Throws: `.undecodable`, `.processingFailed`, `.memoryShort`; and for lack of a thread `.resourcesShort`.
    func image(
        in file: LoadedFile, for request: ImageRequest, _ disk: DiskCache?, mayStore: () -> Bool
    ) async throws(ImageLoadingError) -> (LoadedImage, content: String?) {
        let pipeline = request.pipeline
        if file.isResult { return (try await image(file.bytes, of: file, for: request, .none), file.content) }
        guard let disk, let format = pipeline.resultFormat,
            // Ignored: without a thread there is no stored result; decoding then fails for the same reason.
            let content = try? await threads.run({ file.content }),
            let key = pipeline.resultKey(ofContent: content)
        else { return (try await image(file.bytes, of: file, for: request, pipeline), nil) }
        // Ignored: a result that cannot be used is made anew.
        if let entry = await disk.entry(for: key),
            let image = try? await image(entry.body, of: file, for: request, .none)
        {
            return (image, content)
        }
        let image = try await image(file.bytes, of: file, for: request, pipeline)
        // Ignored: without a thread, or for a picture beyond a JPEG's size, only the original is stored.
        // The stored result of a damaged image would look whole.
        guard image.damage == nil, mayStore(),
            let bytes = try? await threads.run({ try? format.encode(image.bitmap) })
        else {
            return (image, nil)
        }
        await disk.store(ByteArray(bytes), metadata: [], for: key) { !mayStore() }
        return (image, content)
    }
}

extension ImageBytes {
    /// The most bytes that decoding takes; 0 for a file that cannot be decoded, which decoding reports.
    fileprivate func memory(toDecodeBy decoders: ImageDecoders, _ sizing: ImageSizing?) -> Int {
        withBytes { (try? decoders.memory(toDecode: $0, sizing: sizing)) ?? 0 }
    }
}

extension ImageRequest.ResultFormat {
    fileprivate func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> [UInt8] {
        switch self {
        case .png: try bitmap.encoded(quality: nil).file
        case .jpeg(let quality): try bitmap.encoded(quality: quality).file
        case .only(let format): try format.encode(bitmap)
        }
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
