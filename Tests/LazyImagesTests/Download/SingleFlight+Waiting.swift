import TestSupport

@testable import LazyImages

extension SingleFlight {
    /// Comes back when all of these wait for an answer.
    func haveJoined(_ tickets: [LoadTicket]) async throws {
        try await eventually { tickets.allSatisfy { flights.flight(of: $0) != nil } }
    }

    /// Comes back when none of these waits any more.
    func haveLeft(_ tickets: [LoadTicket]) async throws {
        try await eventually { tickets.allSatisfy { flights.flight(of: $0) == nil } }
    }
}

/// Callers of a downloader, each in a task of its own.
struct Callers<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, ImageLoadingError>
    let tickets: [LoadTicket]
    let tasks: [Task<Outcome, Never>]

    /// Waits for everyone's outcome. A test that runs out of its time cancels them all.
    var outcomes: [Outcome] {
        get async {
            await withTaskCancellationHandler {
                var outcomes: [Outcome] = []
                for task in tasks { outcomes.append(await task.value) }
                return outcomes
            } onCancel: {
                for task in tasks { task.cancel() }
            }
        }
    }

    fileprivate init(
        _ count: Int,
        _ call: @escaping @Sendable (LoadTicket) async throws(ImageLoadingError) -> Value
    ) {
        let tickets = (0..<count).map { _ in LoadTicket() }
        self.tickets = tickets
        tasks = tickets.map { ticket in
            Task {
                do throws(ImageLoadingError) {
                    return Outcome.success(try await call(ticket))
                } catch {
                    return Outcome.failure(error)
                }
            }
        }
    }
}

extension ImageDownloader {
    /// So many callers of one request. They all wait for it when this returns.
    nonisolated func callers(
        _ count: Int = 1, of request: ImageRequest
    ) async throws -> Callers<DownloadedImage> {
        let callers = calls(count, of: request)
        try await haveJoined(callers.tickets)
        return callers
    }

    /// Comes back when the transfer of a request has this priority.
    func has(_ priority: ImageRequest.Priority, for request: ImageRequest) async throws {
        try await eventually { flights.priority(ofFlight: request.transferKey) == priority }
    }

    /// So many callers of one request, of whom nothing is known yet.
    nonisolated func calls(_ count: Int = 1, of request: ImageRequest) -> Callers<DownloadedImage> {
        Callers(count) { ticket throws(ImageLoadingError) in try await self.download(request, ticket: ticket)
        }
    }
}

extension LoadFlight {
    /// So many callers of one request that memory does not answer. They all wait for it when this returns.
    nonisolated func callers(_ count: Int = 1, of request: ImageRequest) async throws -> Callers<Value> {
        let callers = Callers(count) { ticket throws(ImageLoadingError) in
            try await self.load(request, ticket, nil)
        }
        try await haveJoined(callers.tickets)
        return callers
    }
}

extension Result {
    var error: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
