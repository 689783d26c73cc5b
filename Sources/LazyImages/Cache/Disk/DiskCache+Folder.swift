internal import Glibc
import SystemSupport

extension DiskCache {
    /// The folder for reading, opened at the first use; nil if there is none or it cannot be opened.
    func currentFolder() -> CacheFolder? {
        if let folder = state.withLock({ $0.folder }) { return folder }
        do throws(FileFault) {
            let folder = try CacheFolder(path: path, calls: calls, isForWriting: false)
            let current = state.withLock { state in
                // Another thread may have been first.
                if state.folder == nil { state.folder = folder }
                return state.folder
            }
            if current === folder { enqueue { [weak self] in self?.tidy(folder) } }
            return current
        } catch {
            // A folder that does not exist yet is an empty cache.
            if error.code != ENOENT { record(error, writing: false) }
            return nil
        }
    }

    /// The folder for writing, created if it does not exist. Opens the folder anew if the path leads to another one by
    /// now. On the writer's thread.
    func folderForWriting() throws(FileFault) -> CacheFolder {
        if let folder = state.withLock({ $0.folder }) {
            if folder.isCurrent { return folder }
            drop(folder)
        }
        let folder = try CacheFolder(path: path, calls: calls, isForWriting: true)
        // Replaces even a folder that a reader has opened meanwhile: that one may not be writable.
        state.withLock { $0.folder = folder }
        if !folder.isNew { tidy(folder) }
        return folder
    }

    /// Drops a folder that is gone, or that the path no longer leads to. The next use opens the folder anew.
    func drop(_ folder: CacheFolder) {
        state.withLock { if $0.folder === folder { $0.folder = nil } }
    }

    /// Removes what a crash left in a folder, and counts its entries if the counts are missing. On the writer's thread.
    private func tidy(_ folder: CacheFolder) {
        do throws(FileFault) {
            try folder.sweep()
            guard let usage = folder.usage, usage.isNew else { return }
            // One job for each subfolder, so that no store waits for the whole count.
            for index in 0..<UsageFile.folderCount {
                enqueue { [weak self] in self?.count(index, in: folder) }
            }
            enqueue { usage.fold() }
        } catch { record(error, writing: true) }
    }

    private func count(_ index: Int, in folder: CacheFolder) {
        do throws(FileFault) { _ = try folder.scan(index) } catch { record(error, writing: true) }
    }

    /// Counts a file of a key that failed a check: an entry, or a partial body.
    func countCorrupt(_ key: CacheKey) {
        let host = key.host
        state.withLock { state in
            state.counters.corrupt += 1
            state.statistics.add(HostStatistics(corrupt: 1), for: host)
        }
    }

    /// Removes an entry that failed a check.
    func removeCorrupt(_ key: CacheKey, _ identity: FileIdentity, in folder: CacheFolder) {
        let (name, index) = (CacheFolder.entryName(of: key.digest), CacheFolder.index(of: key.digest))
        countCorrupt(key)
        do throws(FileFault) {
            guard try folder.remove(name, ifStill: identity) else { return }
            folder.usage?.add(.init(bytes: -identity.size, entries: -1), to: index)
        } catch { record(error, writing: true) }
    }

    /// Runs work on the writer's thread. Without a thread the next opening does it.
    private func enqueue(_ work: @escaping @Sendable () -> Void) {
        do {
            try writer.enqueue(work)
        } catch {
            record(FileFault(error), writing: true)
        }
    }

    /// Runs work on the cache's threads. A lack of threads is a fault.
    func run<Value: Sendable>(
        on threads: BlockingThreads, orElse fallback: Value, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        do {
            return try await threads.run(work)
        } catch {
            record(FileFault(error), writing: false)
            return fallback
        }
    }

    /// Counts a fault and keeps its explanation.
    func record(_ fault: FileFault, writing: Bool) {
        state.withLock { $0.faults.record(fault, writing: writing) }
    }

    package static func absolutePath(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.hasPrefix("/") else { return path }
        guard let current = unsafe getcwd(nil, 0) else { return "/" + path }
        defer { unsafe free(current) }
        return unsafe String(cString: current) + "/" + path
    }
}

extension FileFault {
    /// The system has no thread for the cache.
    init(_ shortage: ResourceShortage) {
        self.init(kind: .thread, name: "the cache", code: shortage.code)
    }
}
