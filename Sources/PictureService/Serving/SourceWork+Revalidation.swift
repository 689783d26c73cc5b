import LazyImages

extension SourceWork {
    /// Revalidates a source in the background while its stored picture is sent (RFC 5861 section 3). Only one
    /// revalidation of a source runs at a time. Later requests use its result.
    static func revalidate(_ original: PictureOriginal, _ surroundings: Surroundings) {
        let revalidations = surroundings.revalidations
        let key = original.recordKey
        guard case .address(let source, let isSigned) = original, let number = revalidations.begin(key)
        else { return }
        guard let ticket = surroundings.gate.enterAtOnce() else { return revalidations.end(key, number) }
        Task {
            await revalidate(source, isSigned: isSigned, key, surroundings) {
                !revalidations.isWanted(key, number)
            }
            surroundings.gate.leave(ticket)
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
            if record.mayBeKept {
                await surroundings.tiers.keep(record, for: key, unless: isUnwanted)
            } else {
                await surroundings.tiers.removeRecord(key)
            }
        } catch {
            // A failure that may pass keeps the stored record. Any other failure replaces it.
            if !error.mayPass { await surroundings.tiers.removeRecord(key) }
        }
    }
}
