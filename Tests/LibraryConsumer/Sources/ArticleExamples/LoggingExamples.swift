import LazyImages
import Logging
import Metrics
import NIOCore

/// A loader that writes each transfer to a log, and counts it.
func observedLoader(_ logger: Logger) -> ImageLoader {
    let (bytes, failures) = (Counter(label: "images_received_bytes"), Counter(label: "images_failed"))
    let time = Timer(label: "images_transfer")
    var configuration = ImageLoader.Configuration()
    configuration.onTransferEvent = { event in
        switch event.kind {
        case .finished(let status, let metrics):
            logger.debug("\(status) \(event.url)", metadata: ["transfer": "\(event.transfer)"])
            bytes.increment(by: metrics.bytes)
            time.recordNanoseconds(Int64(metrics.total / .nanoseconds(1)))
        case .failed(let error, _):
            logger.warning("\(error)", metadata: ["code": "\(error.code)", "transfer": "\(event.transfer)"])
            failures.increment()
        case .waiting, .started, .redirected, .retrying: break
        }
    }
    return ImageLoader(configuration: configuration)
}

/// Writes down the caches' counters, from time to time.
func record(_ loader: ImageLoader) {
    Gauge(label: "images_memory_bytes").record(loader.memory.counters.bytes)
    Gauge(label: "images_disk_bytes").record(loader.disk?.counters.bytes ?? 0)
}

extension ImageBytes {
    /// The bytes in a buffer of swift-nio, which owns its memory: copied once.
    var buffer: ByteBuffer { withBytes { span in span.withUnsafeBytes { ByteBuffer(bytes: $0) } } }
}

func store(_ upload: ByteBuffer, for poster: ImageRequest, in loader: ImageLoader) async throws {
    try await loader.store(upload.readableBytesView, for: poster)
    print(try ImageDecoders.standard.decode(upload.readableBytesView))  // Bitmap 500 x 750
}
