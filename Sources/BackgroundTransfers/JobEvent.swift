import LazyImages

/// An event of a background job.
public enum JobEvent: Sendable, Hashable {
    /// A process has begun to work on the job. `time` is in seconds since 1970.
    case started(process: Int32, time: Double)
    /// The job waits for something; nil: it no longer waits.
    case waiting(JobWait?)
    /// One image is done, or has failed. After a resumption a failed image may have a second result, which replaces the
    /// first.
    case result(JobResult)
    /// The job has finished. 0: all done; 1: some failed; 2: all failed; 130: cancelled.
    case ended(status: Int32, time: Double)
    /// The process ended without a final status: it was killed, or the machine stopped.
    case stopped
}

/// Why a background job waits.
public enum JobWait: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is no network.
    case network
    /// The network is a mobile network, which the plan refuses.
    case otherNetwork = "other-network"
    /// Memory is short.
    case memory
}

/// The result of one image of a background job.
public struct JobResult: Sendable, Hashable, Codable {
    /// The error of a failed image.
    public struct Failure: Sendable, Hashable, Codable {
        /// The code of the `ImageLoadingError`.
        public let code: String
        /// One line for people.
        public let message: String
    }

    /// The index of the image in the plan, from 0.
    public let index: Int
    /// Its URL, without credentials.
    public let url: String
    /// The source of the file (`LoadedFile.Source`), or `failed`.
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
    /// How long it waited for slots, in milliseconds.
    public let queued: Double
    /// The SHA-256 of the file, if the job wants checksums.
    public private(set) var sha256: String?
    /// Why it failed.
    public private(set) var error: Failure?

    /// Whether the file was fetched from a server.
    public var isFetched: Bool {
        [LoadedFile.Source.network, .resumed].contains { "\($0)" == outcome }
    }

    /// Nil for an image that was decoded already: a job fills the disk.
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
            outcome = "\(file.source)"
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
