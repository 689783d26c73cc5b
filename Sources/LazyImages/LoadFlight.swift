/// What the flights of a loader are told apart by.
protocol RequestKey: Hashable, Sendable {
    init(_ request: ImageRequest)
}

/// A loader whose flights are each one task from beginning to end, which waits by the flight's own ticket for an actor
/// below. `ImageLoader` stands on `FileLoader` this way, and that on `ImageDownloader`.
protocol LoadFlight: SingleFlight where Key: RequestKey {
    associatedtype Below: SingleFlight

    /// What a flight waits for.
    nonisolated var below: Below { get }

    /// The work of a flight.
    nonisolated func find(_ request: ImageRequest, _ flight: Flight) async throws(ImageLoadingError) -> Value
}

extension LoadFlight {
    /// Joins the flight for a request, or begins it.
    func load(
        _ request: ImageRequest, _ ticket: LoadTicket, _ progress: ProgressListener?
    ) async throws(ImageLoadingError) -> Value {
        try await share(Key(request), of: request, ticket: ticket, progress: progress) { flight in
            let task = Task { @concurrent in await fly(flight, request) }
            flights.setTask(task, of: Key(request), flight)
        }
    }

    private nonisolated func fly(_ flight: Flight, _ request: ImageRequest) async {
        let outcome: Result<Value, ImageLoadingError>
        do {
            outcome = .success(try await find(request, flight))
        } catch {
            outcome = .failure(error)
        }
        await land(Key(request), flight, outcome)
    }

    /// Its task, which is cancelled, is all there is to a flight.
    func wasAbandoned(_ flight: Flight) {}

    /// Passes the flight's priority on, by its ticket, so that of two changes the later one stands.
    func priorityMayHaveChanged(of key: Key, _ flight: Flight) {
        guard let priority = flights.priority(ofFlight: key) else { return }
        flight.ticket.priority = priority
        Task { await below.heedPriority(of: flight.ticket) }
    }
}
