import Coalescing
import Hashing
package import ImageCodecs
package import LazyImages
import PictureService

/// A stored picture, ready to be sent.
package final class KeptPicture: Sendable {
    package let bytes: [UInt8]
    package let format: ImageFormat
    package let size: ImageSize
    /// The entity tag. Source, recipe and encoder decide the bytes, so it is the same on every machine.
    package let entityTag: String

    init(_ picture: Picture, key: SHA256.Digest) {
        bytes = picture.bytes.array
        format = picture.format
        size = picture.size
        entityTag = Self.entityTag(key)
    }

    /// Restores a picture from its bytes and `metadata`; nil if the metadata is invalid.
    fileprivate convenience init?(_ entry: DiskCache.Entry, key: SHA256.Digest) {
        let words = String(decoding: entry.metadata, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let format = [ImageFormat.jpeg, .png].first(where: { $0.name == words[0] }),
            let width = Int(words[1]), let height = Int(words[2]), entry.body.count > 0
        else { return nil }
        let size = ImageSize(width: width, height: height)
        self.init(Picture(bytes: entry.body, format: format, size: size), key: key)
    }

    /// `jpeg 342 513`, stored beside the bytes on disk.
    fileprivate var metadata: [UInt8] { Array("\(format.name) \(size.width) \(size.height)".utf8) }

    /// Half of the key is enough to distinguish pictures.
    static func entityTag(_ key: SHA256.Digest) -> String { "\"\(key.hexadecimal.prefix(32))\"" }
}

/// Stores pictures and the records of their sources: memory before disk before the shared store. A picture's key is its
/// content and recipe; a record's key is the source.
package struct PictureTiers: Sendable {
    private let records: MemoryCache<Kept<SourceRecord>>
    /// The reads of records that are not in memory. A removal outdates them: they must not put the record back.
    private let reads = FlightTable<CacheKey, SourceRecord?, PictureFailure, Never>()
    package let pictures: MemoryCache<KeptPicture>
    package let disk: DiskCache?
    package let shared: SharedTier?

    /// The assumed memory of a record in bytes. Records get an eighth of the pictures' memory: even small pictures take
    /// ten times as much each.
    private static let recordCost = 768
    private static let recordPart = 8
    private static let leastRecordMemory = 1 << 20

    /// - Parameters:
    ///   - memory: the most memory for pictures, in bytes.
    ///   - disk: stores pictures and records; nil for memory only.
    ///   - shared: stores both for other instances; nil for none.
    package init(memory: Int, disk: DiskCache?, shared: SharedTier? = nil) {
        records = MemoryCache(limit: max(Self.leastRecordMemory, memory / Self.recordPart))
        pictures = MemoryCache(limit: memory)
        self.disk = disk
        self.shared = shared
    }

    // MARK: Records

    /// The record in memory; nil if only the disk may have it.
    func recordInMemory(_ key: CacheKey) -> SourceRecord? { records.value(for: key)?.value }

    /// The record of a source, from any tier. Nil for a cancelled caller.
    func record(_ key: CacheKey) async -> SourceRecord? {
        if let kept = recordInMemory(key) { return kept }
        let read = reads.join(key, priority: 0, cancelled: { .cancelled }) { [self] flight, _ in
            let record = await stored(key, isShared: key.isOfURL, unless: { !flight.isCurrent }) { entry in
                SourceRecord(String(decoding: entry.body.array, as: UTF8.self))
            }
            if let record { keepInMemory(record, for: key) { !flight.isCurrent } }
            return record
        }
        // Ignored: only a cancelled caller gets an error.
        return try? await read.value
    }

    /// Stores a record in all tiers.
    /// - Parameters:
    ///   - known: the record in the tiers already; nil for none.
    ///   - isUnwanted: whether the source was purged meanwhile.
    func keep(
        _ record: SourceRecord, for key: CacheKey, known: SourceRecord? = nil,
        unless isUnwanted: () -> Bool = { false }
    ) async {
        keepInMemory(record, for: key, unless: isUnwanted)
        // A record that came from the shared tier is not written back. The names of this machine's own pictures mean
        // other pictures elsewhere.
        await keep(
            ByteArray(Array(record.text.utf8)), for: key, isShared: record != known && key.isOfURL,
            unless: isUnwanted)
    }

    /// Checks `isUnwanted` before and after storing: either the check sees a concurrent removal, or the removal finds
    /// the record.
    private func keepInMemory(
        _ record: SourceRecord, for key: CacheKey, unless isUnwanted: () -> Bool
    ) {
        guard !isUnwanted() else { return }
        records.store(Kept(record), for: key, cost: Self.recordCost)
        if isUnwanted() { records.remove(key) }
    }

    /// Removes a source's record. From now on, nobody finds its pictures.
    func removeRecord(_ key: CacheKey) async {
        reads.invalidate { $0 == key }
        if key.isOfURL { shared?.remove(key) }
        await disk?.remove(key)
        // Again, for reads that have found the record meanwhile.
        reads.invalidate { $0 == key }
        records.remove(key)
    }

    // MARK: Pictures

    static func key(_ digest: SHA256.Digest) -> CacheKey {
        CacheKey(id: "picture \(digest.hexadecimal)")
    }

    /// The picture in memory; nil if only the disk may have it.
    func pictureInMemory(_ key: CacheKey) -> KeptPicture? { pictures.value(for: key) }

    /// The picture, from any tier.
    /// - Parameter isShared: whether other machines may have it; see `PictureOriginal.isShared`.
    func picture(_ digest: SHA256.Digest, isShared: Bool = true) async -> KeptPicture? {
        let key = Self.key(digest)
        if let kept = pictures.value(for: key) { return kept }
        let found = await stored(key, isShared: isShared) { KeptPicture($0, key: digest) }
        if let found { keepInMemory(found, as: digest) }
        return found
    }

    /// Stores a picture in memory at once.
    func keepInMemory(_ picture: KeptPicture, as digest: SHA256.Digest) {
        pictures.store(picture, for: Self.key(digest), cost: picture.bytes.count)
    }

    /// Stores a picture on disk and in the shared tier. Waits if too many writes are queued for the disk.
    func keepOnDisk(_ picture: KeptPicture, as digest: SHA256.Digest, isShared: Bool = true) async {
        await keep(
            ByteArray(picture.bytes), metadata: picture.metadata, for: Self.key(digest), isShared: isShared)
    }

    // MARK: Disk and shared tier

    /// A value from disk, or from the shared tier, which is then stored on disk.
    private func stored<Value>(
        _ key: CacheKey, isShared: Bool, unless isUnwanted: () -> Bool = { false },
        reading: (DiskCache.Entry) -> Value?
    ) async -> Value? {
        if let value = await disk?.entry(for: key).flatMap(reading) { return value }
        guard isShared, let entry = await shared?.entry(for: key), let value = reading(entry) else {
            return nil
        }
        await keep(
            ByteArray(entry.body.array), metadata: entry.metadata, for: key, isShared: false,
            unless: isUnwanted)
        return value
    }

    private func keep(
        _ bytes: ByteArray, metadata: [UInt8] = [], for key: CacheKey, isShared: Bool,
        unless isUnwanted: () -> Bool = { false }
    ) async {
        await disk?.store(bytes, metadata: metadata, for: key, unless: isUnwanted)
        if isShared { shared?.store(bytes, metadata: metadata, for: key, unless: isUnwanted) }
    }
}

/// A value in a memory cache, which keeps objects.
private final class Kept<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// Remembers for a minute why a source gives no picture. Asking again then costs neither a transfer nor a decode.
final class FailureMemory: Sendable {
    private let entries = MemoryCache<Kept<PictureFailure>>(
        limit: 4 << 20, timeToLive: .seconds(PictureFreshness.failureLifetime))

    /// The assumed memory of an entry in bytes.
    private static let cost = 512

    /// The failure of a source within the last minute.
    func failure(of source: CacheKey) -> PictureFailure? { entries.value(for: source)?.value }

    /// Notes a failure of the source itself. Other failures may pass at any time.
    func record(_ failure: PictureFailure, of source: CacheKey) {
        guard failure.status == .unprocessableContent, failure != .needsMemory else { return }
        entries.store(Kept(failure), for: source, cost: Self.cost)
    }

    func remove(_ source: CacheKey) { entries.remove(source) }
}
