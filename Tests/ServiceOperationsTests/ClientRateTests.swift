import HTTPSemantics
import TestTraits
import Testing

@testable import ServiceOperations

@Suite("ClientRate", .bounded)
struct ClientRateTests {
    private let start = ContinuousClock.now
    private let client = IPAddress.v4(0x7F00_0001)

    @Test("a client may send a second's requests at once, and one more after each interval")
    func rate() {
        let rate = ClientRate(perSecond: 10)
        for _ in 0..<10 { #expect(rate.admit(client, now: start) == nil) }
        #expect(rate.admit(client, now: start) == 1)
        #expect(rate.admit(client, now: start + .milliseconds(99)) == 1)
        #expect(rate.admit(client, now: start + .milliseconds(101)) == nil)
        #expect(rate.admit(client, now: start + .milliseconds(102)) == 1)
        // A refused request costs nothing, and a long pause earns no more than a second's requests.
        for _ in 0..<10 { #expect(rate.admit(client, now: start + .seconds(60)) == nil) }
        #expect(rate.admit(client, now: start + .seconds(60)) == 1)
    }

    @Test("over a minute a greedy client gets its rate, and another client is not affected")
    func steady() {
        let rate = ClientRate(perSecond: 3)
        let admitted = (0..<60_000).count { rate.admit(client, now: start + .milliseconds($0)) == nil }
        #expect((180...183).contains(admitted))
        #expect(rate.admit(.v4(1), now: start + .seconds(60)) == nil)
    }

    @Test("after the reported seconds a request is served")
    func wait() throws {
        let rate = ClientRate(perSecond: 1)
        #expect(rate.admit(client, now: start) == nil)
        let wait = try #require(rate.admit(client, now: start + .milliseconds(1)))
        #expect(wait == 1)
        #expect(rate.admit(client, now: start + .milliseconds(1) + .seconds(wait)) == nil)
    }

    @Test("an IPv6 client is its /64, an IPv4 client its address; a client without an address is not limited")
    func networks() throws {
        let rate = ClientRate(perSecond: 1)
        func admits(_ text: String) throws -> Bool {
            let client: IPAddress = try #require(IPAddress(text))
            return rate.admit(client, now: start) == nil
        }
        #expect(try admits("2001:db8:0:1::1"))
        #expect(try !admits("2001:db8:0:1:ffff::2"))
        #expect(try admits("2001:db8:0:2::1"))
        #expect(try admits("192.0.2.1"))
        #expect(try admits("192.0.2.2"))
        #expect(try !admits("192.0.2.1"))
        for _ in 0..<3 { #expect(rate.admit(nil, now: start) == nil) }
    }

    @Test("the table keeps its size; a client with a debt is not evicted for clients without one")
    func crowd() {
        let rate = ClientRate(perSecond: 100, clients: 64)
        for _ in 0..<100 { #expect(rate.admit(client, now: start) == nil) }
        // More clients than entries: each is served, and none evicts the greedy one.
        for number in 0..<10_000 { #expect(rate.admit(.v4(UInt32(number)), now: start) == nil) }
        #expect(rate.admit(client, now: start) == 1)
    }
}
