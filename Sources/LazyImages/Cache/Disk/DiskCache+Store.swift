import SystemSupport

extension DiskCache {
    /// Stores a value: it can be read from the moment this returns and is written by the cache's own thread. Waits
    /// only while too many bytes are staged already. Not cut short by cancellation. What is larger than the limit
    /// is not kept, nor what it would have replaced; what the disk refuses is lost.
    /// - Parameters:
    ///   - body: the value itself.
    ///   - metadata: the caller's own bytes, given back with the value.
    ///   - expiry: from when on the value is of little use, in seconds since 1970: what has expired goes first when
    ///     room is needed, but is found until then. Default: nobody knows.
    ///   - key: what it is found by.
    public func store(_ body: [UInt8], metadata: [UInt8] = [], expiry: Int? = nil, for key: CacheKey) async {
        await store(ByteArray(body), metadata: metadata, expiry: expiry, for: key)
    }

    /// As above, from bytes that somebody owns already; they are held, and lent to the disk, until they are on it.
    /// - Parameter isUnwanted: whether the value was removed before it could be stored. Asked under the cache's lock, so that
    ///   of a removal and this store one sees the other.
    package func store(
        _ body: any ByteSource, metadata: [UInt8], expiry: Int? = nil, for key: CacheKey,
        unless isUnwanted: () -> Bool = { false }
    ) async {
        let entry = StagingArea.Entry(body: body, metadata: metadata, expiry: expiry)
        guard let size = entry.fileSize(for: key), size <= limit else {
            if !isUnwanted() { await remove(key) }
            return
        }
        // With nothing staged there is nothing to write either.
        if state.withLock({ isUnwanted() || $0.staging.admit(entry, for: key) }) {
            enqueueWrite(key)
            return
        }
        await withCheckedContinuation { continuation in
            let isStaged = state.withLock { state in
                // There may be room by now.
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

    /// Waits until everything stored or removed before this call is on the disk as far as it ever will be, and the
    /// sweep that follows opening is done. Not a sync: see the class's notes on durability.
    public func flush() async {
        await run(on: writer, orElse: ()) { [self] in
            state.withLock { $0.folder }?.usage?.fold()
            if state.withLock({ !$0.statistics.isEmpty }) { noteStatistics() }
        }
    }

    /// Removes what there is for a key: on disk, staged, or waiting for room to be staged.
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
            } catch { note(error, writing: true) }
        }
    }

    /// Without a thread what is staged is lost, as if the disk had refused it.
    private func enqueueWrite(_ key: CacheKey) {
        do {
            try writer.enqueue { [self] in writeStaged(key) }
        } catch {
            note(FileFault(error), writing: true)
            state.withLock { $0.staging.discard(key) }
            resume(state.withLock { $0.staging.admitWaiters() })
        }
    }

    /// Brings what is staged for a key to the disk. Nothing may be: an earlier job has written the newest value.
    private func writeStaged(_ key: CacheKey) {
        guard let entry = state.withLock({ $0.staging[key] }) else {
            // What was removed has made room.
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
            case .failure(let fault): state.faults.note(fault, writing: true)
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

    /// Makes room and writes; returns how many entries made room. Once more if something was not there: a folder wiped
    /// in between, or a temporary file that another process has swept.
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
        // The size was checked when the value was staged, and a folder for writing has its counts.
        guard let usage = folder.usage, let size = entry.fileSize(for: key) else { return 0 }
        let index = CacheFolder.index(of: key.digest)
        let amount = UsageFile.Amount(bytes: size, entries: 1)
        // Counted before it is there: a crash in between makes the counts too high, which the next eviction's scan
        // puts right, and never too low. Folded at once, so that what others have stored counts as well.
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
        // What is still to come is no part of what a scan finds.
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
    /// The length of the file it makes; nil where that is beyond the format.
    func fileSize(for key: CacheKey) -> Int? {
        EntryHeader.fileSize(
            keyLength: key.text.utf8.count, metadataLength: metadata.count, bodyLength: body.count)
    }
}
