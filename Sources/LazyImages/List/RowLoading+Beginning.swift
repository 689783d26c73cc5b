/// Begins what a model asks of its loader before the call returns, so that the loader is asked in the model's order.
///
/// Not part of the model: a task made there immediately belongs to the actor, and keeps it alive for as long as it runs
/// even if it captures it weakly. That the model is let go of is what cancels its loads.
extension RowLoading {
    /// Begins a load. `end` is told the outcome.
    func begin(
        _ request: ImageRequest, ticket: LoadTicket, progress: AsyncStream<TransferProgress>.Continuation,
        previews: AsyncStream<ImagePreview>.Continuation?,
        end: @escaping @Sendable (Result<Image, ImageLoadingError>) async -> Void
    ) -> Task<Void, Never> {
        Task.immediate {
            let outcome: Result<Image, ImageLoadingError>
            do throws(ImageLoadingError) {
                outcome = .success(
                    try await image(for: request, ticket: ticket, progress: progress, previews: previews))
            } catch {
                outcome = .failure(error)
            }
            progress.finish()
            previews?.finish()
            await end(outcome)
        }
    }

    /// Begins a change of priority: of two the later one stands.
    func beginChange(to priority: ImageRequest.Priority, of ticket: LoadTicket) {
        Task.immediate { await setPriority(priority, of: ticket) }
    }
}
