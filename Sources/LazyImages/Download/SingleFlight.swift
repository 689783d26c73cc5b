/// An actor whose callers share their waiting: one flight per key, an answer for everyone who waits for it, and each
/// free to leave. `ImageDownloader` shares transfers this way and `ImageLoader` whole loads.
protocol SingleFlight: Actor {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    var flights: FlightTable<Key, Value> { get set }

    /// The highest priority among the flight's callers may have changed.
    func priorityMayHaveChanged(of key: Key, flight: Int)

    /// Nobody waits for the flight any more, and its task, if it has one, is cancelled.
    func wasAbandoned(flight: Int)
}

extension SingleFlight {
    /// Waits for the flight for `key`, which `launch` begins if this caller is the first. Cancelling the calling task
    /// makes only this caller leave; the last to leave cancels the flight.
    func share(
        _ key: Key, of request: ImageRequest, ticket: LoadTicket,
        progress: ProgressListener?,
        launch: (_ flight: Int, _ progress: ProgressRelay) -> Void
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
                    ticket: ticket, priority: request.priority, progress: progress, continuation: continuation
                )
                switch flights.join(key, caller) {
                case .first(let flight):
                    launch(flight, flights.progress(of: key) ?? ProgressRelay())
                case .shares(let flight):
                    priorityMayHaveChanged(of: key, flight: flight)
                }
            }
        } onCancel: {
            Task { await self.leave(ticket, url: request.url.displayText) }
        }
        return try outcome.get()
    }

    /// Gives everyone who waits the flight's outcome. Does nothing for a flight that was abandoned.
    func land(_ key: Key, flight: Int, _ outcome: Result<Value, ImageLoadingError>) {
        for caller in flights.finish(key, flight: flight) { caller.resume(outcome) }
    }

    /// Gives one caller another priority; the flight has the highest among its callers.
    func changePriority(of ticket: LoadTicket, to priority: ImageRequest.Priority) {
        guard let (key, flight) = flights.flight(of: ticket) else { return }
        flights.setPriority(priority, of: ticket)
        priorityMayHaveChanged(of: key, flight: flight)
    }

    private func leave(_ ticket: LoadTicket, url: String) {
        guard let (key, flight) = flights.flight(of: ticket), let departure = flights.leave(ticket) else {
            return
        }
        departure.caller.resume(.failure(.cancelled(url: url)))
        if departure.isLast {
            departure.task?.cancel()
            wasAbandoned(flight: flight)
        } else {
            priorityMayHaveChanged(of: key, flight: flight)
        }
    }
}
