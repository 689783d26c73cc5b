/// Comes back once `condition` holds: for what tells nobody when it happens. Where something does, wait for its ``Tally``.
///
/// It looks again and again. The pause between two looks, after the first few, leaves the processor to those that
/// the test waits for; no result depends on its length.
/// - Throws: `CancellationError` when the calling task is cancelled, as a test's time limit does.
public func eventually(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    var looks = 0
    while try await !condition() {
        try Task.checkCancellation()
        looks += 1
        if looks < 100 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(5)) }
    }
}
