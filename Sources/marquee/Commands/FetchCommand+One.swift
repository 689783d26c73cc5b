import FoundationEssentials
import LazyImages

/// One answer, on standard output.
extension FetchCommand {
    /// Prints the status line, the header and the body.
    static func include(_ session: Session) async throws -> ExitStatus {
        guard session.arguments.operands.count == 1, FetchTarget.isAddress(session.arguments.operands[0]),
            !session.settings.wantsJSON, !session.arguments.has("output")
        else { throw UsageError("--include needs one address, and neither --json nor --output") }
        let target = FetchTarget(address: session.arguments.operands[0])
        return await session.withFile(of: target) { file in
            session.output.detail("\(target.displayText): \(file.source)")
            session.output.answer(file.head ?? ResponseHead(status: 200), file.bytes)
            return .done
        } failure: { error in
            // A cache answers 504 if it must not ask the server (RFC 9111 section 5.2.1.7).
            if case .notCached = error { session.output.answer(ResponseHead(status: 504), ImageBytes([])) }
        }
    }

    /// Prints the body, byte for byte. On a terminal it prints only text, made safe.
    static func printBody(_ session: Session) async throws -> ExitStatus {
        let words = session.arguments.operands
        guard words.count == 1, words[0] != "-", !session.settings.wantsJSON else {
            throw UsageError("-o - needs one film, address or file, and no --json")
        }
        let target: FetchTarget
        switch try await FetchTargets(session).next() {
        case .target(let named)?: target = named
        case .failure(let record)?: throw Failure(record.error?.message ?? "\(words[0]): nothing to fetch")
        case nil: return .nothingDone
        }
        return await session.withFile(of: target) { file in
            if session.output.body(file.bytes, type: file.contentType) { return .done }
            session.output.failure(
                "\(target.displayText): \(file.bytes.count) bytes that are not text; "
                    + "save them with -o DIR or > FILE")
            return .nothingDone
        } failure: { _ in
        }
    }
}

extension Session {
    /// Fetches one file and passes it to `body`. An error is printed, after `failure` has seen it.
    fileprivate func withFile(
        of target: FetchTarget, body: (LoadedFile) -> ExitStatus, failure: (ImageLoadingError) -> Void
    ) async -> ExitStatus {
        let opened = makeLoader()
        let status: ExitStatus
        let activity = opened.loader.downloader.activity
        let work = output.progress.begin { JobProgress(bytes: activity.traffic) }
        do throws(ImageLoadingError) {
            let request = try request(for: target.address, relativeTo: target.base)
            let file = try await opened.loader.file(for: request)
            output.progress.end(work)
            status = body(file)
        } catch {
            output.progress.end(work)
            failure(error)
            output.failure(target.naming(error.advised))
            status = .nothingDone
        }
        await opened.close()
        return reportFaults() && status == .done ? .someFailed : status
    }
}
