package import SystemSupport

extension DiskCache {
    /// An entry as a scan sees it.
    package struct EntrySummary: Sendable {
        /// The canonical URL of its key.
        package let url: String
        /// The length of its file.
        package let bytes: Int
        /// When it was used last, to a minute.
        package let lastUse: FileTime

        init(keyText: String, _ entry: ScannedEntry) {
            url = String(keyText.prefix { $0 != "\n" })
            (bytes, lastUse) = (entry.size, entry.accessTime)
        }
    }

    /// The result of a scan of the whole cache.
    package struct ScanReport: Equatable, Sendable {
        /// Valid entries in the cache now.
        package internal(set) var entries = 0
        /// Their bytes.
        package internal(set) var bytes = 0
        /// Entries that the scan removed.
        package internal(set) var removedEntries = 0
        /// Their bytes.
        package internal(set) var removedBytes = 0
        /// Entries in a later version of the format, which stay.
        package internal(set) var newerEntries = 0
    }

    /// Reads every entry in full, and removes those that fail a check. Other processes may use the cache meanwhile.
    package func verify() async -> ScanReport {
        await run(on: writer, orElse: ScanReport()) { [self] in
            scanAll { folder, entry, report throws(FileFault) in
                switch try folder.read(entry, maximum: limit) {
                case .entry: report.keep(entry)
                case .newer: report.newerEntries += 1
                case .absent: break
                case .corrupt(let identity):
                    state.withLock { $0.counters.corrupt += 1 }
                    if try folder.remove(entry.name, ifStill: identity) { report.removed(entry) }
                }
            }
        }
    }

    /// The first 64 bits of the digest of every key that has a file, read from the files' names; nil if the folder
    /// cannot be read.
    package func digestPrefixes() async -> [UInt64]? {
        await run(on: readers, orElse: nil) { [self] in
            guard let folder = currentFolder() else { return [] }
            do throws(FileFault) {
                var prefixes: [UInt64] = []
                for index in 0..<UsageFile.folderCount {
                    prefixes += try folder.names(index).compactMap { UInt64($0.prefix(16), radix: 16) }
                }
                return prefixes
            } catch {
                record(error, writing: false)
                return nil
            }
        }
    }

    /// Calls `visit` with every entry, in no order, by the headers of the files. Returns the sums.
    @discardableResult
    package func forEachEntry(_ visit: @escaping @Sendable (EntrySummary) -> Void) async -> ScanReport {
        await run(on: writer, orElse: ScanReport()) { [self] in
            scanAll { folder, entry, report throws(FileFault) in
                switch try folder.label(of: entry) {
                case .key(let text):
                    visit(EntrySummary(keyText: text, entry))
                    report.keep(entry)
                case .newer: report.newerEntries += 1
                case .unreadable, .gone: break
                }
            }
        }
    }

    /// Removes every entry for which `isUnwanted` is true, and every file that is not an entry. Entries in a later
    /// version of the format stay.
    @discardableResult
    package func removeAll(
        where isUnwanted: @escaping @Sendable (EntrySummary) -> Bool
    ) async -> ScanReport {
        await run(on: writer, orElse: ScanReport()) { [self] in
            scanAll { folder, entry, report throws(FileFault) in
                switch try folder.label(of: entry) {
                case .key(let text) where !isUnwanted(EntrySummary(keyText: text, entry)):
                    report.keep(entry)
                case .key, .unreadable:
                    if try folder.remove(entry.name, ifStill: entry.identity) { report.removed(entry) }
                case .newer: report.newerEntries += 1
                case .gone: break
                }
            }
        }
    }

    /// Removes all entries, in any version of the format, staged or on disk.
    public func removeAll() async {
        state.withLock { $0.staging.discardAll() }
        _ = await run(on: writer, orElse: ScanReport()) { [self] in
            scanAll { folder, entry, report throws(FileFault) in
                if try folder.remove(entry.name, ifStill: entry.identity) { report.removed(entry) }
            }
        }
    }

    /// Evicts the least recently used entries until at most `bytes` are left, whatever the limit.
    /// - Returns: what was removed, and what is left by the counts.
    @discardableResult
    package func trim(to bytes: Int) async -> ScanReport {
        await run(on: writer, orElse: ScanReport()) { [self] in
            var report = ScanReport()
            guard let folder = currentFolder(), let usage = folder.usage else { return report }
            defer { usage.fold() }
            do throws(FileFault) {
                let removed = try Eviction(folder: folder, usage: usage, largeCount: largeCount).trim(
                    to: bytes)
                state.withLock { $0.counters.evictions += removed.entries }
                (report.removedEntries, report.removedBytes) = (removed.entries, removed.bytes)
            } catch {
                record(error, writing: true)
            }
            (report.entries, report.bytes) = (usage.total.entries, usage.total.bytes)
            return report
        }
    }

    /// Calls `visit` with every file of the cache, on the writer's thread, and corrects the counts. A failure is a
    /// fault, and the scan continues.
    private func scanAll(
        _ visit: (CacheFolder, ScannedEntry, inout ScanReport) throws(FileFault) -> Void
    ) -> ScanReport {
        var report = ScanReport()
        guard let folder = currentFolder() else { return report }
        for index in 0..<UsageFile.folderCount {
            do throws(FileFault) {
                let before = (entries: report.removedEntries, bytes: report.removedBytes)
                for entry in try folder.scan(index) {
                    do throws(FileFault) { try visit(folder, entry, &report) } catch {
                        record(error, writing: false)
                    }
                }
                folder.usage?.add(
                    .init(
                        bytes: before.bytes - report.removedBytes,
                        entries: before.entries - report.removedEntries),
                    to: index)
            } catch { record(error, writing: false) }
        }
        folder.usage?.fold()
        return report
    }
}

extension DiskCache.ScanReport {
    fileprivate mutating func keep(_ entry: ScannedEntry) {
        entries += 1
        bytes += entry.size
    }

    fileprivate mutating func removed(_ entry: ScannedEntry) {
        removedEntries += 1
        removedBytes += entry.size
    }
}
