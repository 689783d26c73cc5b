import FilmSources
import Films
import Synchronization
import SystemSupport

/// Long work with a library, on a thread of its own: every call of a library blocks.
enum LibraryWork {
    /// The progress of the work, and whether it is cancelled.
    final class Progress: Sendable {
        private let done = Atomic(0)
        private let isCancelled = Atomic(false)

        /// Counts one more film.
        /// - Throws: `CancellationError` after a cancellation.
        func step() throws {
            done.wrappingAdd(1, ordering: .relaxed)
            if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
        }

        var count: Int { done.load(ordering: .relaxed) }

        fileprivate func cancel() { isCancelled.store(true, ordering: .relaxed) }
    }

    /// Runs `work` and shows its progress.
    /// - Parameter total: the number of films; nil if it is unknown.
    static func run<Value: Sendable>(
        _ label: String, total: Int?, _ output: Output,
        _ work: @escaping @Sendable (Progress) throws -> Value
    ) async throws -> Value {
        let progress = Progress()
        let line = output.progress.begin { JobProgress(label: label, done: progress.count, total: total) }
        defer { output.progress.end(line) }
        let outcome = Lock<Result<Value, any Error>?>(nil)
        await withTaskCancellationHandler {
            await BlockingThreads.runOnOwnThread {
                let result = Result { try work(progress) }
                outcome.withLock { $0 = result }
            }
        } onCancel: {
            progress.cancel()
        }
        guard let outcome = outcome.withLock({ $0 }) else { throw CancellationError() }
        return try outcome.get()
    }
}

extension FilmLibrary {
    /// Calls `body` with each film as it is exported, and its poster if that is stored, until it throws an error.
    func exportEach(_ body: (FilmDocument, StoredPoster?) throws -> Void) throws {
        var failure: (any Error)?
        try forEachExported { film, poster throws(FilmLibraryError) in
            do { try body(film, poster) } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
    }
}
