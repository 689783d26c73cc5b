internal import Glibc
import SystemSupport

extension DiskCache {
    /// The folder for reading, opened if it is not; nil if there is none or it cannot be.
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
            // A folder that nobody has made yet is an empty cache.
            if error.code != ENOENT { note(error, writing: false) }
            return nil
        }
    }

    /// The folder for writing, made if it is not there. Opened anew if what is open is no longer what the path leads
    /// to. On the writer's thread.
    func folderForWriting() throws(FileFault) -> CacheFolder {
        if let folder = state.withLock({ $0.folder }) {
            if folder.isCurrent { return folder }
            forget(folder)
        }
        let folder = try CacheFolder(path: path, calls: calls, isForWriting: true)
        // In the place even of one that a reader has opened meanwhile, which need not be fit for writing.
        state.withLock { $0.folder = folder }
        if !folder.isNew { tidy(folder) }
        return folder
    }

    /// Gives up a folder that is gone or no longer the path's; the next use opens it anew.
    func forget(_ folder: CacheFolder) {
        state.withLock { if $0.folder === folder { $0.folder = nil } }
    }

    /// Sees to what a crash left in a folder and to counts that are missing. On the writer's thread.
    private func tidy(_ folder: CacheFolder) {
        do throws(FileFault) {
            try folder.sweep()
            guard let usage = folder.usage, usage.isNew else { return }
            // One job for each folder, so that no store waits for the whole count.
            for index in 0..<UsageFile.folderCount {
                enqueue { [weak self] in self?.count(index, in: folder) }
            }
            enqueue { usage.fold() }
        } catch { note(error, writing: true) }
    }

    private func count(_ index: Int, in folder: CacheFolder) {
        do throws(FileFault) { _ = try folder.scan(index) } catch { note(error, writing: true) }
    }

    /// Removes an entry that failed a check.
    func removeCorrupt(_ key: CacheKey, _ identity: FileIdentity, in folder: CacheFolder) {
        let (name, index) = (CacheFolder.entryName(of: key.digest), CacheFolder.index(of: key.digest))
        let host = key.host
        state.withLock { state in
            state.counters.corrupt += 1
            state.statistics.add(HostStatistics(corrupt: 1), for: host)
        }
        do throws(FileFault) {
            guard try folder.remove(name, ifStill: identity) else { return }
            folder.usage?.add(.init(bytes: -identity.size, entries: -1), to: index)
        } catch { note(error, writing: true) }
    }

    /// Has the writer's thread do something for the folder. Without a thread it is left to the next opening.
    private func enqueue(_ work: @escaping @Sendable () -> Void) {
        do {
            try writer.enqueue(work)
        } catch {
            note(FileFault(error), writing: true)
        }
    }

    /// Runs something on threads of the cache's own. Without a thread that is a fault.
    func run<Value: Sendable>(
        on threads: BlockingThreads, orElse nothing: Value, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        do {
            return try await threads.run(work)
        } catch {
            note(FileFault(error), writing: false)
            return nothing
        }
    }

    /// Counts and explains what failed.
    func note(_ fault: FileFault, writing: Bool) {
        state.withLock { $0.faults.note(fault, writing: writing) }
    }

    static func absolutePath(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.hasPrefix("/") else { return path }
        guard let current = unsafe getcwd(nil, 0) else { return "/" + path }
        defer { unsafe free(current) }
        return unsafe String(cString: current) + "/" + path
    }
}

extension FileFault {
    /// The cache has no thread to work on.
    init(_ shortage: ResourceShortage) {
        self.init(kind: .thread, name: "the cache", code: shortage.code)
    }
}
