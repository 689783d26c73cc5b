import Testing

@testable import LazyImages

@Suite("ProgressRelay", .timeLimit(.minutes(30)))
struct ProgressRelayTests {
    @Test("everyone who listens is told")
    func everyone() async {
        let relay = ProgressRelay()
        let listeners = [ProgressLog(), ProgressLog()]
        for listener in listeners { relay.add(listener.listener, for: LoadTicket()) }
        relay.report(TransferProgress(received: 1, expected: 2))
        relay.report(TransferProgress(received: 2, expected: 2))
        for listener in listeners { #expect(await received(listener) == [1, 2]) }
    }

    @Test("who joins late is told at once how far things are")
    func lateJoiner() async {
        let relay = ProgressRelay()
        relay.report(TransferProgress(received: 7, expected: nil))
        let listener = ProgressLog()
        relay.add(listener.listener, for: LoadTicket())
        #expect(await received(listener) == [7])
    }

    @Test("who joins before anything has arrived is told nothing yet")
    func earlyJoiner() async {
        let listener = ProgressLog()
        ProgressRelay().add(listener.listener, for: LoadTicket())
        #expect(await received(listener).isEmpty)
    }

    @Test("who has left is told no more")
    func departed() async {
        let relay = ProgressRelay()
        let (leaver, stayer, ticket) = (ProgressLog(), ProgressLog(), LoadTicket())
        relay.add(leaver.listener, for: ticket)
        relay.add(stayer.listener, for: LoadTicket())
        relay.remove(ticket)
        relay.report(TransferProgress(received: 1, expected: nil))
        #expect(await received(leaver).isEmpty)
        #expect(await received(stayer) == [1])
    }

    @Test("a relay passes on what another tells it")
    func chain() async {
        let (first, second, listener) = (ProgressRelay(), ProgressRelay(), ProgressLog())
        first.add(ProgressListener(second), for: LoadTicket())
        second.add(listener.listener, for: LoadTicket())
        first.report(TransferProgress(received: 3, expected: nil))
        #expect(await received(listener) == [3])
    }

    private func received(_ log: ProgressLog) async -> [Int] { await log.all().map(\.received) }
}
