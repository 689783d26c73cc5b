import HTTPSemantics
package import ImageCodecs
package import LazyImages
import Synchronization

/// A picture that is kept, ready to be sent.
package final class KeptPicture: Sendable {
    package let bytes: [UInt8]
    package let format: ImageFormat
    package let size: ImageSize
    /// The entity tag: the same on every machine, since source, recipe and encoder decide the bytes.
    package let entityTag: String

    init(_ picture: Picture, key: SHA256.Digest) {
        bytes = picture.bytes.array
        format = picture.format
        size = picture.size
        entityTag = Self.entityTag(key)
    }

    /// Reads what `metadata` says of stored bytes; nil for what was not stored here.
    fileprivate init?(_ bytes: ImageBytes, _ metadata: [UInt8], key: SHA256.Digest) {
        let words = String(decoding: metadata, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let format = [ImageFormat.jpeg, .png].first(where: { $0.name == words[0] }),
            let width = Int(words[1]), let height = Int(words[2]), bytes.count > 0
        else { return nil }
        self.bytes = bytes.array
        self.format = format
        size = ImageSize(width: width, height: height)
        entityTag = Self.entityTag(key)
    }

    /// `jpeg 342 513`, as it stands beside the bytes on disk.
    fileprivate var metadata: [UInt8] { Array("\(format.name) \(size.width) \(size.height)".utf8) }

    /// A part of the key is enough to tell all pictures apart.
    static func entityTag(_ key: SHA256.Digest) -> String { "\"\(key.hexadecimal.prefix(32))\"" }
}

/// Where pictures and the records of their sources are kept: memory before disk. Pictures stand under their content and
/// recipe, records under the source.
package struct PictureTiers: Sendable {
    /// A record, for memory.
    private final class KeptRecord: Sendable {
        let record: SourceRecord
        init(_ record: SourceRecord) { self.record = record }
    }

    /// Counts removed records. Who has read one from disk meanwhile must not put it back into memory.
    private final class Removals: Sendable {
        let count = Atomic(0)
    }

    private let records: MemoryCache<KeptRecord>
    private let removals = Removals()
    package let pictures: MemoryCache<KeptPicture>
    package let disk: DiskCache?
    private let names: StoredNames?

    /// What a record is taken to need, in bytes. Records get an eighth of what pictures may take: even small pictures take ten
    /// times as much.
    private static let recordCost = 768
    private static let recordPart = 8
    private static let leastRecordMemory = 1 << 20

    /// - Parameters:
    ///   - memory: what pictures may take of memory, in bytes.
    ///   - disk: where both are kept; nil for memory alone.
    package init(memory: Int, disk: DiskCache?) {
        records = MemoryCache(limit: max(Self.leastRecordMemory, memory / Self.recordPart))
        pictures = MemoryCache(limit: memory)
        self.disk = disk
        names = disk.map { StoredNames($0) }
    }

    /// Finds out what the disk has, for `mayHaveRecord`.
    func readNames() async { await names?.read() }

    // MARK: Records

    /// Whether there may be a record of a source. Asks memory alone.
    func mayHaveRecord(_ key: CacheKey) -> Bool {
        records.value(for: key) != nil || names?.mayHold(key) ?? false
    }

    /// The record in memory; nil where only the disk may have it.
    func recordInMemory(_ key: CacheKey) -> SourceRecord? { records.value(for: key)?.record }

    /// The record of a source.
    func record(_ key: CacheKey) async -> SourceRecord? {
        if let kept = records.value(for: key) { return kept.record }
        let removed = removals.count.load(ordering: .sequentiallyConsistent)
        guard let entry = await disk?.entry(for: key),
            let record = SourceRecord(String(decoding: entry.body.array, as: UTF8.self))
        else { return nil }
        keepInMemory(record, for: key) {
            removals.count.load(ordering: .sequentiallyConsistent) != removed
        }
        return record
    }

    /// Keeps a record in both tiers.
    /// - Parameter isUnwanted: whether the source was purged before that.
    func keep(
        _ record: SourceRecord, for key: CacheKey, unless isUnwanted: () -> Bool = { false }
    ) async {
        keepInMemory(record, for: key, unless: isUnwanted)
        await disk?.store(
            ByteArray(Array(record.text.utf8)), metadata: [], for: key, unless: isUnwanted)
        names?.insert(key)
    }

    /// Asks before it stores, and again afterwards, so that of a removal and this one sees the other.
    private func keepInMemory(
        _ record: SourceRecord, for key: CacheKey, unless isUnwanted: () -> Bool
    ) {
        guard !isUnwanted() else { return }
        records.store(KeptRecord(record), for: key, cost: Self.recordCost)
        if isUnwanted() { records.remove(key) }
    }

    /// Forgets a source. Its pictures are found by nobody from then on.
    func removeRecord(_ key: CacheKey) async {
        await disk?.remove(key)
        removals.count.add(1, ordering: .sequentiallyConsistent)
        records.remove(key)
    }

    // MARK: Pictures

    static func key(_ digest: SHA256.Digest) -> CacheKey {
        CacheKey(id: "picture \(digest.hexadecimal)")
    }

    /// The picture in memory; nil where only the disk may have it.
    func pictureInMemory(_ key: CacheKey) -> KeptPicture? { pictures.value(for: key) }

    func picture(_ digest: SHA256.Digest) async -> KeptPicture? {
        let key = Self.key(digest)
        if let kept = pictures.value(for: key) { return kept }
        guard let entry = await disk?.entry(for: key),
            let picture = KeptPicture(entry.body, entry.metadata, key: digest)
        else { return nil }
        pictures.store(picture, for: key, cost: picture.bytes.count)
        return picture
    }

    /// Keeps a picture in memory, at once.
    func keepInMemory(_ picture: KeptPicture, as digest: SHA256.Digest) {
        pictures.store(picture, for: Self.key(digest), cost: picture.bytes.count)
    }

    /// Keeps a picture on disk. Waits only while much else waits for the disk.
    func keepOnDisk(_ picture: KeptPicture, as digest: SHA256.Digest) async {
        await disk?.store(picture.bytes, metadata: picture.metadata, for: Self.key(digest))
    }
}
