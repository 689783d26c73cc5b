import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("The updates of a list's rows", .bounded)
struct RowUpdatesTests {
    private let none = TransferProgress(received: 0, expected: nil)

    @Test("a slow reader gets the latest state of each request once, in order of the first unread update")
    func newest() throws {
        var table = RowStateTable()
        let reader = table.addReader()
        for state in [
            RowState.loading(progress: none, preview: nil), .loaded(.named("a")), .loaded(.named("b")),
        ] {
            _ = table.publish(state, for: try key(3))
        }
        _ = table.publish(.loaded(.named("c")), for: try key(1))
        _ = table.publish(.loaded(.named("d")), for: try key(3))
        #expect(read(&table, reader) == ["3: d", "1: c"])
        #expect(read(&table, reader) == [])
    }

    @Test("an unread image that is gone again causes no update, and a read one does")
    func gone() throws {
        var table = RowStateTable()
        let reader = table.addReader()
        _ = table.publish(.loaded(.named("a")), for: try key(0))
        #expect(read(&table, reader) == ["0: a"])
        _ = table.publish(.placeholder, for: try key(0))
        _ = table.publish(.loaded(.named("b")), for: try key(1))
        _ = table.publish(.placeholder, for: try key(1))
        #expect(read(&table, reader) == ["0: placeholder"])
    }

    @Test("a request with many updates does not delay the others")
    func fair() throws {
        var table = RowStateTable()
        let reader = table.addReader()
        for row in 0..<3 { _ = table.publish(.loaded(.named("a")), for: try key(row)) }
        var names: [String] = []
        for _ in 0..<3 {
            if let update = table.next(for: reader) { names.append(update.key.name) }
            _ = table.publish(.loaded(.named("b")), for: try key(0))
        }
        #expect(names == ["0", "1", "2"])
    }

    @Test("the buffer of a reader that never reads is bounded by what is shown")
    func bounded() throws {
        var table = RowStateTable()
        let reader = table.addReader()
        for row in 0..<10_000 {
            _ = table.publish(.loaded(.named("a")), for: try key(row))
            if row >= 10 { _ = table.publish(.placeholder, for: try key(row - 10)) }
        }
        #expect(table.readers[reader]?.pending.count == 10)
    }

    @Test("a late reader gets the state of everything that is shown")
    func lateReader() throws {
        var table = RowStateTable()
        _ = table.publish(.loaded(.named("a")), for: try key(5))
        _ = table.publish(.loaded(.named("b")), for: try key(2))
        let reader = table.addReader()
        #expect(read(&table, reader) == ["5: a", "2: b"])
    }

    @Test("two readers each get every update")
    func twoReaders() async throws {
        let states = RowStates()
        var one = RowUpdates(states: states).makeAsyncIterator()
        var other = RowUpdates(states: states).makeAsyncIterator()
        states.publish([(key: try key(0), state: .loaded(.named("a")))], counters: ImageListCounters())
        #expect(try await one.next()?.key == key(0))
        #expect(try await other.next()?.key == key(0))
    }

    @Test("a cancelled reader's sequence ends")
    func cancelled() async throws {
        let states = RowStates()
        let reading = Tally()
        let reader = Task {
            var updates: [String] = []
            for await update in RowUpdates(states: states) {
                updates.append(update.text)
                reading.add()
            }
            return updates
        }
        states.publish([(key: try key(0), state: .loaded(.named("a")))], counters: ImageListCounters())
        try await reading.wait(for: 1)
        reader.cancel()
        states.publish([(key: try key(1), state: .loaded(.named("b")))], counters: ImageListCounters())
        #expect(await reader.value == ["0: a"])
    }

    @Test("a sequence finishes with the states, after its unread updates")
    func finished() async throws {
        let states = RowStates()
        states.publish([(key: try key(0), state: .loaded(.named("a")))], counters: ImageListCounters())
        states.finish()
        var keys: [LoadKey] = []
        for await update in RowUpdates(states: states) { keys.append(update.key) }
        #expect(try keys == [key(0)])
    }

    private func read(_ table: inout RowStateTable, _ reader: Int) -> [String] {
        var updates: [String] = []
        while let update = table.next(for: reader) { updates.append(update.text) }
        return updates
    }

    private func key(_ number: Int) throws -> LoadKey { LoadKey(try request("\(number)")) }
}
