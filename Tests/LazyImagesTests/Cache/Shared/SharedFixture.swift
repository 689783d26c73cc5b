import FoundationEssentials
import TestSupport
import Testing

import LazyImages

/// A key of the store's, and what tests of the shared tier need often.
enum SharedFixture {
    static let secret = [UInt8](repeating: 7, count: 32)
    static let body = Array("hello".utf8)
    static let metadata = Array("m".utf8)

    static func key(_ number: Int = 0) throws -> CacheKey {
        CacheKey(url: try #require(URL(string: "http://origin.example/a\(number).png")))
    }

    /// A tier over a store. Nothing in it ends before the test does, unless the test says so.
    static func tier(
        _ address: String, keys: [[UInt8]] = [secret], transport: (any Transport)? = nil,
        environment: [String: String] = [:],
        _ configure: (inout SharedTier.Configuration) -> Void = { _ in }
    ) throws -> SharedTier {
        var configuration = SharedTier.Configuration()
        configuration.reading = .patient
        configuration.writing = .patient
        configuration.timing = .patient
        configure(&configuration)
        return try SharedTier(
            SharedTier.Address(address, environment: environment), keys: keys, configuration: configuration,
            transport: transport)
    }

    /// A clock that the test sets. A sleep by it ends only when its task is cancelled.
    static func timing(_ now: Shared<Duration>) -> RetryTiming {
        RetryTiming(
            now: { now.value }, sleep: { _ in try await Tally().wait(for: 1) }, random: { 0 })
    }
}

extension SharedTier {
    /// Has `hello` written for a key.
    func put(_ key: CacheKey, _ body: [UInt8] = SharedFixture.body) {
        store(ByteArray(body), metadata: SharedFixture.metadata, for: key)
    }

    func body(_ key: CacheKey) async -> [UInt8]? { await entry(for: key)?.body.array }
}
