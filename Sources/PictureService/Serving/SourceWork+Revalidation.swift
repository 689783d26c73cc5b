import LazyImages
import SystemSupport

extension SourceWork {
    /// Has the origin asked while what is stored is sent (RFC 5861 section 3), once at a time for each source. The answer
    /// counts for later requests.
    static func revalidate(_ original: PictureOriginal, _ surroundings: Surroundings) {
        let revalidations = surroundings.revalidations
        let key = original.recordKey
        guard case .address(let source, let isSigned) = original, let number = revalidations.begin(key)
        else { return }
        guard surroundings.gate.enter() else { return revalidations.end(key, number) }
        Task {
            await revalidate(source, isSigned: isSigned, key, surroundings) {
                !revalidations.isWanted(key, number)
            }
            surroundings.gate.leave()
            revalidations.end(key, number)
        }
    }

    private static func revalidate(
        _ source: PictureSource, isSigned: Bool, _ key: CacheKey, _ surroundings: Surroundings,
        unless isUnwanted: () -> Bool
    ) async {
        do throws(PictureFailure) {
            let file: LoadedFile
            do {
                file = try await surroundings.fetcher.file(source, isSigned: isSigned)
            } catch {
                throw PictureFailure(error)
            }
            surroundings.counters.count(file)
            let record = try await record(of: file, surroundings)
            if file.mayBeKept {
                await surroundings.tiers.keep(record, for: key, unless: isUnwanted)
            } else {
                await surroundings.tiers.removeRecord(key)
            }
        } catch {
            // What may pass leaves what is stored. All else takes its place.
            if !error.mayPass { await surroundings.tiers.removeRecord(key) }
        }
    }
}

/// The sources whose origins are asked while what is stored of them is sent.
final class Revalidations: Sendable {
    private struct State {
        var running: [CacheKey: Int] = [:]
        var number = 0
    }

    private let state = Lock(State())

    /// Begins one.
    /// - Returns: its number; nil where the source's origin is asked already.
    func begin(_ source: CacheKey) -> Int? {
        state.withLock { state in
            guard state.running[source] == nil else { return nil }
            state.number += 1
            state.running[source] = state.number
            return state.number
        }
    }

    /// Whether the source was not purged since.
    func isWanted(_ source: CacheKey, _ number: Int) -> Bool {
        state.withLock { $0.running[source] == number }
    }

    func end(_ source: CacheKey, _ number: Int) {
        state.withLock { state in
            if state.running[source] == number { state.running[source] = nil }
        }
    }

    /// Has nothing kept of what is under way for a source.
    func forget(_ source: CacheKey) { state.withLock { $0.running[source] = nil } }
}
