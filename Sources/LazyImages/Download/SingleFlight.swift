/// An actor whose callers share their waiting: one flight per key, an answer for everyone who waits for it, and each
/// free to leave. `ImageDownloader` shares transfers this way and `ImageLoader` whole loads.
protocol SingleFlight: Actor {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    var flights: FlightTable<Key, Value> { get set }

    /// The highest priority among the flight's callers may have changed.
    func priorityMayHaveChanged(of key: Key, _ flight: Flight)

    /// Nobody waits for the flight any more, and its task, if it has one, is cancelled.
    func wasAbandoned(_ flight: Flight)
}

extension SingleFlight {
    /// Waits for the flight for `key`, which `launch` begins if this caller is the first. Cancelling the calling task
    /// makes only this caller leave; the last to leave cancels the flight.
    func share(
        _ key: Key, of request: ImageRequest, ticket: LoadTicket,
        progress: ProgressListener?,
        launch: (_ flight: Flight) -> Void
    ) async throws(ImageLoadingError) -> Value {
        if Task.isCancelled {
            progress?.finish()
            throw .cancelled(url: request.url.displayText)
        }
        // Between here and the suspension nothing else runs on this actor. So `leave`, which `onCancel` has to ask the
        // actor for, always comes after `join`, even when the task was cancelled a moment ago.
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let caller = FlightTable<Key, Value>.Caller(
                    ticket: ticket, priority: ticket.priority ?? request.priority, progress: progress,
                    continuation: continuation)
                switch flights.join(key, caller) {
                case .first(let flight): launch(flight)
                case .shares(let flight): priorityMayHaveChanged(of: key, flight)
                }
            }
        } onCancel: {
            Task { await self.leave(ticket, url: request.url.displayText) }
        }
        return try outcome.get()
    }

    /// Gives everyone who waits the flight's outcome. Does nothing for a flight that was abandoned.
    func land(_ key: Key, _ flight: Flight, _ outcome: Result<Value, ImageLoadingError>) {
        for caller in flights.finish(key, flight) { caller.resume(outcome) }
    }

    /// Gives one caller the priority that its ticket wishes for; the flight has the highest among its callers.
    func heedPriority(of ticket: LoadTicket) {
        guard let priority = ticket.priority, let (key, flight) = flights.flight(of: ticket) else { return }
        flights.setPriority(priority, of: ticket)
        priorityMayHaveChanged(of: key, flight)
    }

    private func leave(_ ticket: LoadTicket, url: String) {
        guard let (key, flight) = flights.flight(of: ticket), let departure = flights.leave(ticket) else {
            return
        }
        departure.caller.resume(.failure(.cancelled(url: url)))
        if departure.isLast {
            departure.task?.cancel()
            wasAbandoned(flight)
        } else {
            priorityMayHaveChanged(of: key, flight)
        }
    }
}
