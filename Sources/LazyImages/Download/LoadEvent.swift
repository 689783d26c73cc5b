import Coalescing
public import ImageCodecs

/// An event of a load before its outcome. The large and rare cases are indirect, since the others come with every part of
/// a body.
enum LoadEvent: FlightEvent {
    /// The transfer has its slot. `queued` is the time that all its attempts have waited for slots so far.
    case started(queued: Duration)
    /// More of a body has arrived. Listeners must not keep the body beyond the end.
    case progress(TransferProgress, BodyBuffer?)
    /// The attempt has failed, and its body is void. Another attempt may follow.
    case interrupted
    /// More of a request's body has been sent.
    case sent(UploadProgress)
    indirect case preview(ImagePreview)
    /// The image's file is loaded and is decoded next. Only the load of an image sends this.
    case file(LoadedFile)
    /// The metrics of a load that is about to end. Only the load of an image sends this.
    indirect case measured(LoadMetrics)

    func record(in recent: inout [Self]) {
        // The most frequent event by far: nothing is moved for it.
        if case .progress = self, let index = recent.lastIndex(where: replaces) {
            recent[index] = self
            return
        }
        recent.removeAll(where: replaces)
        switch self {
        case .started, .progress, .sent, .file, .measured: recent.append(self)
        case .interrupted, .preview: break
        }
    }

    /// The others may hold the body.
    var outlivesFlight: Bool { if case .measured = self { true } else { false } }

    private func replaces(_ earlier: Self) -> Bool {
        switch (self, earlier) {
        // The next body starts at zero, or with a resumed partial body.
        case (.started, .started), (.started, .progress), (.progress, .progress), (.interrupted, .progress),
            (.sent, .sent):
            true
        default: false
        }
    }
}

/// Receives the events of a load.
typealias LoadListener = FlightListener<LoadEvent>
/// One download, shared by its callers.
typealias DownloadFlight = Flight<LoadedFile, ImageLoadingError, LoadEvent>

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }

    /// The value or the error of a call.
    package static func of(_ body: () async throws(Failure) -> Success) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}

/// The progress of a transfer.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the body that have arrived.
    public var received: Int
    /// The length of the body in bytes; nil if the server does not say.
    public var expected: Int?

    /// The share that has arrived, 0 to 1; nil if the server does not say the length.
    public var fraction: Double? {
        expected.map { $0 > 0 ? min(Double(received) / Double($0), 1) : 1 }
    }

    /// A progress with these numbers.
    /// - Parameters:
    ///   - received: bytes of the body that have arrived.
    ///   - expected: the length of the body in bytes; nil if unknown.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }
}

/// An incomplete image, shown while its file arrives. No tier keeps it.
public struct ImagePreview: Sendable {
    /// The pixels, at about the wanted size; its `damage` is not nil.
    public let bitmap: Bitmap
    /// The number of the preview in its load, from 1. A higher number shows more.
    public let number: Int

    /// A preview, for loaders of other programs.
    /// - Parameters:
    ///   - bitmap: the pixels so far.
    ///   - number: the number of the preview in its load, from 1.
    public init(bitmap: Bitmap, number: Int) {
        self.bitmap = bitmap
        self.number = number
    }
}

/// The progress of an upload.
public struct UploadProgress: Sendable, Hashable {
    /// Bytes of the body sent so far. Starts again at 0 if the body has to be sent again.
    public let sent: Int
    /// The length of the body in bytes.
    public let total: Int
}
