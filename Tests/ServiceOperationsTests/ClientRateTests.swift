import HTTPSemantics
import Testing

@testable import ServiceOperations

@Suite("ClientRate", .timeLimit(.minutes(30)))
struct ClientRateTests {
    private let start = ContinuousClock.now
    private let client = IPAddress.v4(0x7F00_0001)

    @Test("a client may send a second's requests at once, and one more as each part of a second passes")
    func rate() {
        let rate = ClientRate(perSecond: 10)
        for _ in 0..<10 { #expect(rate.admit(client, now: start) == nil) }
        #expect(rate.admit(client, now: start) == 1)
        #expect(rate.admit(client, now: start + .milliseconds(99)) == 1)
        #expect(rate.admit(client, now: start + .milliseconds(101)) == nil)
        #expect(rate.admit(client, now: start + .milliseconds(102)) == 1)
        // A refused request costs nothing, and a long silence is worth no more than a second.
        for _ in 0..<10 { #expect(rate.admit(client, now: start + .seconds(60)) == nil) }
        #expect(rate.admit(client, now: start + .seconds(60)) == 1)
    }

    @Test("over a minute a client that never stops gets its rate, and another is not touched by it")
    func steady() {
        let rate = ClientRate(perSecond: 3)
        let admitted = (0..<60_000).count { rate.admit(client, now: start + .milliseconds($0)) == nil }
        #expect((180...183).contains(admitted))
        #expect(rate.admit(.v4(1), now: start + .seconds(60)) == nil)
    }

    @Test("the seconds to wait are those after which a request is served")
    func wait() throws {
        let rate = ClientRate(perSecond: 1)
        #expect(rate.admit(client, now: start) == nil)
        let wait = try #require(rate.admit(client, now: start + .milliseconds(1)))
        #expect(wait == 1)
        #expect(rate.admit(client, now: start + .milliseconds(1) + .seconds(wait)) == nil)
    }

    @Test("an IPv6 client is its /64; IPv4 clients are one each; one without an address is not bounded")
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

    @Test("the table keeps its size; a client with a debt is not forgotten for those who have none")
    func crowd() {
        let rate = ClientRate(perSecond: 100, clients: 64)
        for _ in 0..<100 { #expect(rate.admit(client, now: start) == nil) }
        // More clients than there is room for: each is served, and none of them takes the place of the greedy one.
        for number in 0..<10_000 { #expect(rate.admit(.v4(UInt32(number)), now: start) == nil) }
        #expect(rate.admit(client, now: start) == 1)
    }
}
