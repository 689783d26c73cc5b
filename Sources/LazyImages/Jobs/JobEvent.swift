/// What happens to a background job.
public enum JobEvent: Sendable, Hashable {
    /// A process has begun to work on it. `time` is in seconds since 1970.
    case started(process: Int32, time: Double)
    /// It waits for something, or, with nil, waits no longer.
    case waiting(JobWait?)
    /// One image is done, or has failed. After a resumption an image that had failed may come a second time: the last
    /// one holds.
    case result(JobResult)
    /// It has come to its end. 0: all done; 1: some failed; 2: all failed; 130: it was cancelled.
    case ended(status: Int32, time: Double)
    /// Its process has gone without an end: it was killed, or the machine stopped.
    case stopped
}

/// What a background job waits for.
public enum JobWait: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is no network.
    case network
    /// The network is a mobile one, which the order refuses.
    case otherNetwork = "other-network"
    /// Memory is short.
    case memory
}

/// What became of one image of a background job.
public struct JobResult: Sendable, Hashable, Codable {
    /// Why it could not be had.
    public struct Failure: Sendable, Hashable, Codable {
        /// As of `ImageLoadingError.code`.
        public let code: String
        /// One line for people.
        public let message: String
    }

    /// Where in the order it stands, from 0.
    public let index: Int
    /// Its URL, without credentials.
    public let url: String
    /// Where its file came from (`LoadedFile.Source`), or `failed`.
    public let outcome: String
    /// The status of the answer.
    public private(set) var status: Int?
    /// The file's size.
    public private(set) var bytes: Int?
    /// `jpeg`, `png`, ...
    public private(set) var format: String?
    /// In pixels.
    public private(set) var width: Int?
    /// In pixels.
    public private(set) var height: Int?
    /// From the transfer's start, in milliseconds.
    public let milliseconds: Double
    /// How long it waited for a slot before that, in milliseconds.
    public let queued: Double
    /// The SHA-256 of the file, where it was asked for.
    public private(set) var sha256: String?
    /// Why it failed.
    public private(set) var error: Failure?

    /// Whether bytes came from a server for it.
    public var isFetched: Bool {
        [LoadedFile.Source.network, .resumed].contains { $0.rawValue == outcome }
    }

    /// Nil for what was decoded already: a job fills the disk.
    init?(
        _ result: Prewarmer.ItemResult, index: Int, wantsChecksum: Bool,
        explain: (ImageLoadingError) -> String
    ) {
        self.index = index
        url = result.request.url.displayText
        let timing = LoadTiming(total: result.duration, queued: result.queued)
        milliseconds = timing.own / .milliseconds(1)
        queued = timing.queued / .milliseconds(1)
        switch result.outcome {
        case .alreadyDecoded: return nil
        case .alreadyCached(let file), .fetched(let file):
            outcome = file.source.rawValue
            status = file.status
            bytes = file.bytes.count
            format = file.header?.format.name
            width = file.header?.size?.width
            height = file.header?.size?.height
            sha256 = wantsChecksum ? file.bytes.checksum : nil
        case .failed(let error):
            outcome = "failed"
            if case .httpStatus(_, let status) = error { self.status = status }
            self.error = Failure(code: error.code, message: explain(error))
        }
    }
}
