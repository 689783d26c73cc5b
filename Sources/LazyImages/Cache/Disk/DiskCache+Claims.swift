internal import Glibc
import SystemSupport

extension CacheFolder {
    /// The claims on keys in a folder.
    enum Claims {
        case unopened
        case open(ClaimFile)
        /// The folder is on a network file system.
        case impossible
    }

    fileprivate func openClaims() -> ClaimFile? {
        claims.withLock { claims in
            switch claims {
            case .open(let file): return file
            case .impossible: return nil
            case .unopened:
                do throws(FileFault) {
                    let file = try ClaimFile(in: descriptor, calls: calls)
                    claims = .open(file)
                    return file
                } catch {
                    // Without claims each process fetches for itself. A folder that cannot be written may be repaired.
                    if error.code == ENOLCK { claims = .impossible }
                    return nil
                }
            }
        }
    }
}

extension DiskCache {
    /// The claims of all processes with this folder; nil if there can be none. Opens the file, and makes it and the
    /// folder if they are not there: processes that begin to fetch at the same time must find each other.
    func claims() async -> ClaimFile? {
        switch state.withLock({ $0.folder })?.claims.withLock({ $0 }) {
        case .open(let file): return file
        case .impossible: return nil
        case .unopened, nil: return await run(on: readers, orElse: nil) { [self] in openClaims() }
        }
    }

    /// A key's mark, to be read before the look on disk; nil before the first claim.
    func mark(of key: CacheKey) -> ClaimFile.Mark? {
        guard case .open(let file) = state.withLock({ $0.folder })?.claims.withLock({ $0 }) else {
            return nil
        }
        return file.mark(of: key)
    }

    private func openClaims() -> ClaimFile? {
        if let folder = currentFolder() { return folder.openClaims() }
        // Losing the error is right: the store that follows the fetch meets it again, and counts it.
        guard let made = try? CacheFolder(path: path, calls: calls, isForWriting: true) else { return nil }
        let folder = state.withLock { state in
            // Another thread may have been first.
            if state.folder == nil { state.folder = made }
            return state.folder
        }
        return folder?.openClaims()
    }

    /// Runs `work` once everything stored before this call is on the disk as far as it ever will be. Does not wait for
    /// it.
    func afterStores(_ work: @escaping @Sendable () -> Void) {
        // Without a thread nothing is stored.
        do { try writer.enqueue(work) } catch { work() }
    }
}
