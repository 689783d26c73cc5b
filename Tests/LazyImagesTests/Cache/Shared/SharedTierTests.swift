import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("SharedTier", .bounded)
struct SharedTierTests {
    private let key: CacheKey

    init() throws { key = try SharedFixture.key() }

    @Test("one machine reads what another wrote, and the object's name does not show the URL")
    func twoMachines() async throws {
        let store = try StoreServer()
        let writer = try SharedFixture.tier(store.address)
        writer.store(
            ByteArray(SharedFixture.body), metadata: SharedFixture.metadata, expiry: 1_790_000_000, for: key)
        await writer.flush()
        #expect(writer.traffic.writes == 1 && writer.traffic.failures == 0)
        let entry = try #require(await SharedFixture.tier(store.address).entry(for: key))
        #expect(entry.body.array == SharedFixture.body && entry.metadata == SharedFixture.metadata)
        #expect(entry.expiry == 1_790_000_000)
        let name = key.digest.hexadecimal
        #expect(Array(store.objects.value.keys) == ["/posters/\(name.prefix(2))/\(name)"])
        #expect(!store.heads.joined().contains("origin.example"))
    }

    @Test("a value with one changed bit is refused, whichever bit it is")
    func turnedBits() async throws {
        let whole = try sealed()
        for bit in 0..<8 * whole.count {
            var bytes = whole
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(SealedEntry.open(bytes, for: key, by: [SharedFixture.secret]) == nil, "bit \(bit)")
        }
        #expect(SealedEntry.open(whole, for: key, by: [SharedFixture.secret]) != nil)
    }

    @Test("a changed bit with a matching checksum is refused: the seal does not match")
    func forgedChecksum() throws {
        var bytes = try sealed()
        // The last byte of the body, before the seal.
        bytes[bytes.count - SealedEntry.sealLength - 1] ^= 1
        let file = Array(bytes.dropLast(SealedEntry.sealLength))
        var checksum = EntryHeader.checksum(ofFile: file.span)
        for index in 0..<8 {
            bytes[EntryHeader.checksumOffset + index] = UInt8(truncatingIfNeeded: checksum)
            checksum >>= 8
        }
        let forged = Array(bytes.dropLast(SealedEntry.sealLength))
        guard case .valid = EntryFile.parse(forged.span) else {
            Issue.record("the disk tier would refuse it already")
            return
        }
        #expect(SealedEntry.open(bytes, for: key, by: [SharedFixture.secret]) == nil)
    }

    @Test("a store's wrong values are refused and counted, and cause no pause")
    func lying() async throws {
        let store = try StoreServer()
        let tier = try SharedFixture.tier(store.address) { $0.maximumBytes = 4096 }
        let other = try SharedFixture.key(1)
        tier.put(key)
        tier.put(other)
        await tier.flush()
        let (path, otherPath) = (path(key), path(other))
        let whole = try #require(store.objects.value[path])
        let another = try #require(store.objects.value[otherPath])
        var turned = whole
        turned[whole.count / 2] ^= 4
        let foreign = SealedEntry.seal(
            StagingArea.Entry(body: ByteArray(SharedFixture.body), metadata: SharedFixture.metadata),
            for: key,
            by: [UInt8](repeating: 8, count: 32))
        let lies = [
            turned, another, Array(whole.dropLast()), foreign, [], [UInt8](repeating: 0, count: 5000),
        ]
        for (count, lie) in lies.enumerated() {
            store.objects.change { $0[path] = lie }
            #expect(await tier.body(key) == nil)
            #expect(tier.traffic.refusedValues == count + 1)
        }
        #expect(tier.traffic.hits == 0 && !tier.traffic.isReadingPaused)
        store.objects.change { $0[path] = whole }
        #expect(await tier.body(key) == SharedFixture.body)
    }

    @Test("values of an older key are read, and the first key seals")
    func rotation() async throws {
        let store = try StoreServer()
        let old = try SharedFixture.tier(store.address)
        old.put(key)
        await old.flush()
        let fresh = [UInt8](repeating: 9, count: 40)
        let both = try SharedFixture.tier(store.address, keys: [fresh, SharedFixture.secret])
        #expect(await both.body(key) == SharedFixture.body)
        both.put(key)
        await both.flush()
        #expect(await old.body(key) == nil)
        #expect(try await SharedFixture.tier(store.address, keys: [fresh]).body(key) == SharedFixture.body)
    }

    @Test("a read-only tier writes and removes nothing, and does not read removed keys")
    func readOnly() async throws {
        let store = try StoreServer()
        let writer = try SharedFixture.tier(store.address)
        writer.put(key)
        await writer.flush()
        let reader = try SharedFixture.tier(store.address) { $0.isReadOnly = true }
        #expect(await reader.body(key) == SharedFixture.body)
        reader.put(try SharedFixture.key(1))
        reader.remove(key)
        await reader.flush()
        #expect(await reader.body(key) == nil)
        #expect(store.count("PUT") == 1 && store.count("DELETE") == 0)
    }

    @Test("a removal replaces a queued write, and follows a running one")
    func removal() async throws {
        let gate = Gate()
        let store = try StoreServer(puts: gate)
        let tier = try SharedFixture.tier(store.address)
        tier.put(key)
        try await store.requests.wait(for: 1)
        // Under way: the removal follows it. Waiting: the removal takes its place.
        tier.put(key)
        tier.remove(key)
        #expect(await tier.body(key) == nil)
        gate.open()
        await tier.flush()
        #expect(store.objects.value.isEmpty)
        #expect(store.count("PUT") == 1 && store.count("DELETE") == 1 && store.count("GET") == 0)
        // It may come back from now on.
        tier.put(key)
        await tier.flush()
        #expect(await tier.body(key) == SharedFixture.body)
    }

    @Test("answers to requests with credentials, and files of loopback names, are not in the store")
    func unshared() async throws {
        let store = try StoreServer()
        let tier = try SharedFixture.tier(store.address)
        let url = try #require(URL(string: "http://origin.example/a.png"))
        let secret = CacheKey(url: url, headers: [("Authorization", "Basic YTpi")])
        let own = CacheKey(url: try #require(URL(string: "http://sample.localhost/a.png")))
        for key in [secret, own] {
            tier.put(key)
            #expect(await tier.body(key) == nil)
        }
        await tier.flush()
        #expect(store.heads.isEmpty)
        // Another machine's 127.0.0.1 is another server, but this store is on this machine.
        let loopback = CacheKey(url: try #require(URL(string: "http://127.0.0.1:81/a.png")))
        #expect(tier.shares(loopback))
        #expect(try !SharedFixture.tier("http://store.example/").shares(loopback))
    }

    @Test("short keys are refused")
    func keys() throws {
        let address = try SharedTier.Address("http://a/")
        #expect(throws: SharedTierError.noKey) { _ = try SharedTier(address, keys: []) }
        #expect(throws: SharedTierError.shortKey) {
            _ = try SharedTier(address, keys: [[UInt8](repeating: 1, count: 31)])
        }
    }

    private func sealed() throws -> [UInt8] {
        SealedEntry.seal(
            StagingArea.Entry(body: ByteArray(SharedFixture.body), metadata: SharedFixture.metadata),
            for: key,
            by: SharedFixture.secret)
    }

    private func path(_ key: CacheKey) -> String { "/posters/" + CacheFolder.entryName(of: key.digest) }
}
