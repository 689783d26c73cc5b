/// Waits until `condition` holds, by polling. Use it only for changes that signal nothing; otherwise wait for
/// a ``Tally``.
///
/// The pause between two polls, after the first hundred, frees the processor for the code under test. No
/// result depends on its length.
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
