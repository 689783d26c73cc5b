import Testing

@testable import LazyImages

@Suite("Readers of a list's rows", .timeLimit(.minutes(30)))
struct RowUpdatesTests {
    private let none = TransferProgress(received: 0, expected: nil)

    @Test("a slow reader gets the newest state of each row, once")
    func newest() {
        var notices = RowNotices()
        let reader = notices.addReader()
        for state in [
            RowState.loading(progress: none, preview: nil), .loaded(.named("a")), .loaded(.named("b")),
        ] {
            _ = notices.post(state, for: 3)
        }
        _ = notices.post(.loaded(.named("c")), for: 1)
        #expect(read(&notices, reader) == ["1 c", "3 b"])
        #expect(read(&notices, reader) == [])
    }

    @Test("what came and went unread is no news, but what was read and went is")
    func gone() {
        var notices = RowNotices()
        let reader = notices.addReader()
        _ = notices.post(.loaded(.named("a")), for: 0)
        #expect(read(&notices, reader) == ["0 a"])
        _ = notices.post(.placeholder, for: 0)
        _ = notices.post(.loaded(.named("b")), for: 1)
        _ = notices.post(.placeholder, for: 1)
        #expect(read(&notices, reader) == ["0 placeholder"])
    }

    @Test("a row with ever more news does not hold up the others")
    func fair() {
        var notices = RowNotices()
        let reader = notices.addReader()
        for row in 0..<3 { _ = notices.post(.loaded(.named("a")), for: row) }
        var rows: [Int] = []
        for _ in 0..<3 {
            if let update = notices.next(for: reader) { rows.append(update.row) }
            _ = notices.post(.loaded(.named("b")), for: 0)
        }
        #expect(rows == [0, 1, 2])
    }

    @Test("a reader that never reads costs no more than what is shown now")
    func bounded() {
        var notices = RowNotices()
        let reader = notices.addReader()
        for row in 0..<10_000 {
            _ = notices.post(.loaded(.named("a")), for: row)
            if row >= 10 { _ = notices.post(.placeholder, for: row - 10) }
        }
        #expect(notices.readers[reader]?.fresh.count == 10)
    }

    @Test("a reader that comes late is told of everything that is shown")
    func lateReader() {
        var notices = RowNotices()
        _ = notices.post(.loaded(.named("a")), for: 5)
        _ = notices.post(.loaded(.named("b")), for: 2)
        let reader = notices.addReader()
        #expect(read(&notices, reader) == ["2 b", "5 a"])
    }

    @Test("two readers each get everything")
    func twoReaders() async {
        let board = RowBoard()
        var one = RowUpdates(board: board).makeAsyncIterator()
        var other = RowUpdates(board: board).makeAsyncIterator()
        board.post([(row: 0, state: .loaded(.named("a")))], list: 0, counters: ImageListCounters())
        #expect(await one.next()?.row == 0)
        #expect(await other.next()?.row == 0)
    }

    @Test("a cancelled reader's sequence ends")
    func cancelled() async {
        let board = RowBoard()
        let reader = Task {
            for await _ in RowUpdates(board: board) {}
        }
        reader.cancel()
        await reader.value
    }

    @Test("a sequence ends with the board, after what was left to read")
    func finished() async {
        let board = RowBoard()
        board.post([(row: 0, state: .loaded(.named("a")))], list: 0, counters: ImageListCounters())
        board.finish()
        var rows: [Int] = []
        for await update in RowUpdates(board: board) { rows.append(update.row) }
        #expect(rows == [0])
    }

    private func read(_ notices: inout RowNotices, _ reader: Int) -> [String] {
        var updates: [String] = []
        while let update = notices.next(for: reader) { updates.append("\(update.row) \(text(update.state))") }
        return updates
    }
}
