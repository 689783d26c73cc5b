import BackgroundTransfers
import FoundationEssentials
import Glibc
import LazyImages

/// The process of a job. `prewarm --detach` and `jobs resume` start it, never a person.
enum JobProcessCommand {
    /// The command line that starts it.
    static let words = ["jobs", "--process"]

    static func run(_ interruption: Interruption) async -> ExitStatus {
        let process: JobProcess
        do {
            process = try JobProcess()
        } catch {
            Output().failure("\(error)")
            return .nothingDone
        }
        do {
            let session = try JobSettings.session(process, interruption)
            let requests = try process.plan.items.map { item throws(ImageLoadingError) in
                try session.request(for: item)
            }
            let opened = session.makeLoader(keepsFiles: false)
            let status = await process.run(
                requests, with: opened.loader, concurrency: session.settings.downloads.transfers,
                wantsChecksums: session.settings.wantsChecksum, explain: \.advised)
            await opened.close()
            session.reportFaults()
            return ExitStatus(job: status)
        } catch {
            process.refuse(ImageLoadingError.advised(error))
            return .nothingDone
        }
    }
}

extension Session {
    /// The request of an item of a job.
    fileprivate func request(for item: JobPlan.Item) throws(ImageLoadingError) -> ImageRequest {
        let url = try URL(typed: item.url)
        var request = ImageRequest(
            .url(url),
            options: .init(
                fields: item.sendsFields ? settings.fields : HeaderFields(), checksum: item.checksum,
                ignoredQuery: settings.ignoredQuery))
        if settings.isOffline, !LibraryTransport.serves(url) { request.cachePolicy = .cacheOnly }
        return request
    }
}

extension ExitStatus {
    /// The exit status of a job.
    init(job status: Int32) {
        self =
            switch status {
            case 0: .done
            case 1: .someFailed
            case 130: .interrupted
            default: .nothingDone
            }
    }
}
