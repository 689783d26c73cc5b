import SystemSupport

extension DiskCache {
    /// Stores a value. It can be read when this returns; a thread of the cache writes it to the disk. Waits only while
    /// too many bytes are staged, even if the task is cancelled. A value larger than the limit is not stored, but the
    /// older one is removed. A value that the disk refuses is lost.
    /// - Parameters:
    ///   - body: the value.
    ///   - metadata: the caller's bytes, returned with the value. Default: none.
    ///   - expiry: in seconds since 1970. Expired entries are evicted first, but a lookup finds them until then.
    ///     Default: nil, no expiry.
    ///   - key: the value's key.
    public func store(_ body: [UInt8], metadata: [UInt8] = [], expiry: Int? = nil, for key: CacheKey) async {
        await store(ByteArray(body), metadata: metadata, expiry: expiry, for: key)
    }

    /// As above, without copying the bytes. The cache holds `body` until it is written.
    /// - Parameter isUnwanted: whether the value was removed before it could be stored. Called under the cache's lock,
    ///   so that either the removal or this store sees the other.
    package func store(
        _ body: any ByteSource, metadata: [UInt8], expiry: Int? = nil, for key: CacheKey,
        unless isUnwanted: () -> Bool = { false }
    ) async {
        let entry = StagingArea.Entry(body: body, metadata: metadata, expiry: expiry)
        guard let size = entry.fileSize(for: key), size <= limit else {
            if !isUnwanted() { await remove(key) }
            return
        }
        // If nothing was staged, the job finds nothing to write.
        if state.withLock({ isUnwanted() || $0.staging.admit(entry, for: key) }) {
            enqueueWrite(key)
            return
        }
        await withCheckedContinuation { continuation in
            let isStaged = state.withLock { state in
                // There may be room now.
                if isUnwanted() || state.staging.admit(entry, for: key) { return true }
                state.staging.wait(StagingArea.Waiter(key: key, entry: entry, continuation: continuation))
                return false
            }
            if isStaged {
                enqueueWrite(key)
                continuation.resume()
            }
        }
    }

    /// Waits until all earlier stores and removals have reached the disk, or failed, and until the sweep after opening
    /// is done. Not a sync: see the durability of ``DiskCache``.
    public func flush() async {
        await run(on: writer, orElse: ()) { [self] in
            state.withLock { $0.folder }?.usage?.fold()
            if state.withLock({ !$0.statistics.isEmpty }) { recordStatistics() }
        }
    }

    /// Removes a key's value: on disk, staged, or waiting for room to be staged.
    /// - Parameter key: the entry's key.
    public func remove(_ key: CacheKey) async {
        let waiters = state.withLock { state in
            state.staging.discard(key)
            return state.staging.discardWaiters(for: key)
        }
        for waiter in waiters { waiter.continuation.resume() }
        await run(on: writer, orElse: ()) { [self] in
            guard let folder = currentFolder() else { return }
            do throws(FileFault) {
                guard let size = try folder.remove(key) else { return }
                folder.usage?.add(.init(bytes: -size, entries: -1), to: CacheFolder.index(of: key.digest))
                folder.usage?.fold()
            } catch { record(error, writing: true) }
        }
    }

    /// Without a thread the staged value is lost, as if the disk had refused it.
    private func enqueueWrite(_ key: CacheKey) {
        do {
            try writer.enqueue { [self] in writeStaged(key) }
        } catch {
            record(FileFault(error), writing: true)
            state.withLock { $0.staging.discard(key) }
            resume(state.withLock { $0.staging.admitWaiters() })
        }
    }

    /// Writes the staged value of a key. There may be none: an earlier job may have written the newest value.
    private func writeStaged(_ key: CacheKey) {
        guard let entry = state.withLock({ $0.staging[key] }) else {
            // The removal of a staged value has made room.
            return resume(state.withLock { $0.staging.admitWaiters() })
        }
        let outcome = write(entry, for: key)
        let host = key.host
        let admitted = state.withLock { state in
            switch outcome {
            case .success(let evicted):
                state.counters.stores += 1
                state.statistics.add(HostStatistics(stores: 1), for: host)
                state.counters.evictions += evicted
                state.faults.recovered(writing: true)
            case .failure(let fault): state.faults.record(fault, writing: true)
            }
            return state.staging.finish(entry, for: key)
        }
        resume(admitted)
    }

    private func resume(_ admitted: [StagingArea.Waiter]) {
        for waiter in admitted {
            enqueueWrite(waiter.key)
            waiter.continuation.resume()
        }
    }

    /// Makes room and writes; returns how many entries were evicted. Tries again if a file or folder was missing:
    /// somebody wiped the folder, or another process swept the temporary file.
    private func write(_ entry: StagingArea.Entry, for key: CacheKey) -> Result<Int, FileFault> {
        do throws(FileFault) {
            return .success(try writeOnce(entry, for: key))
        } catch let error where error.isAbsence {
            do throws(FileFault) { return .success(try writeOnce(entry, for: key)) } catch {
                return .failure(error)
            }
        } catch { return .failure(error) }
    }

    private func writeOnce(_ entry: StagingArea.Entry, for key: CacheKey) throws(FileFault) -> Int {
        let folder = try folderForWriting()
        // Never nil: staging has checked the size, and a folder for writing has its counts.
        guard let usage = folder.usage, let size = entry.fileSize(for: key) else { return 0 }
        let index = CacheFolder.index(of: key.digest)
        let amount = UsageFile.Amount(bytes: size, entries: 1)
        // Counted before the write: a crash in between leaves the counts too high, which the next eviction corrects,
        // never too low. Folded at once, to see the stores of other processes.
        usage.add(amount, to: index)
        usage.fold()
        do throws(FileFault) {
            let evicted = try makeRoom(for: amount, at: index, in: folder, usage)
            if let old = try folder.write(entry, for: key) {
                usage.add(.init(bytes: -old, entries: -1), to: index)
            }
            return evicted
        } catch {
            usage.add(.init() - amount, to: index)
            throw error
        }
    }

    private func makeRoom(
        for incoming: UsageFile.Amount, at index: Int, in folder: CacheFolder, _ usage: UsageFile
    ) throws(FileFault) -> Int {
        guard usage.total.bytes > limit else { return 0 }
        // The scan does not find the new entry yet.
        usage.add(.init() - incoming, to: index)
        defer {
            usage.add(incoming, to: index)
            usage.fold()
        }
        return try Eviction(folder: folder, usage: usage, largeCount: largeCount)
            .run(limit: limit, incoming: incoming.bytes)
    }
}

extension StagingArea.Entry {
    /// The length of the entry's file; nil if the format cannot hold it.
    func fileSize(for key: CacheKey) -> Int? {
        EntryHeader.fileSize(
            keyLength: key.text.utf8.count, metadataLength: metadata.count, bodyLength: body.count)
    }
}
