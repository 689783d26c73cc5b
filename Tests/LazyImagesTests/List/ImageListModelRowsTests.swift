import LazyImages
import SystemSupport
import TestTraits
import Testing

@Suite("A list model follows its rows", .bounded)
struct ImageListModelRowsTests {
    @Test("a row's request is made when the row is first needed")
    func madeOnDemand() async throws {
        let asked = Lock<Set<Int>>([])
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, pressure: nil)
        let rows = ListRows(count: 100_000) { row in
            asked.withLock { _ = $0.insert(row) }
            // Ignored: the address is valid.
            return try? request("\(row)")
        }
        model.setRows(rows, visible: 500..<502)
        #expect(loader.takeRecord() == ["load 500", "load 501", "prefetch 502", "prefetch 503"])
        model.setVisible(99_999..<100_000)
        #expect(loader.takeRecord().contains("load 99999"))
        #expect(asked.withLock { $0 } == [500, 501, 502, 503, 99_999])
        #expect(rows[-1] == nil && rows[100_000] == nil)
    }

    @Test("the rows of a new list show their own images, and removed rows their placeholders")
    func anotherList() async throws {
        let (loader, model) = try list("a b", memory: ["a", "x"])
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<2)
        #expect(await read(&updates, until: "b: loading 0") == ["a: a", "b: loading 0"])
        model.setRows(try requests("x"))
        #expect(await read(&updates, until: "x: x") == ["a: placeholder", "b: placeholder", "x: x"])
        #expect(loader.takeRecord() == ["pin a", "load b", "unpin a", "cancel b", "pin x"])
    }

    @Test("a request that is in both lists keeps its image and its load, without an update")
    func keptRequest() async throws {
        let (loader, model) = try list("a b c")
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<3)
        loader.finish("a")
        loader.report("b", TransferProgress(received: 7, expected: 9))
        _ = await read(&updates, until: "a: a", "b: loading 7", "c: loading 0")
        _ = loader.takeRecord()
        guard case .loaded(let image) = model.state(of: try request("a")) else {
            Issue.record("a has no image")
            return
        }
        model.setRows(try requests("x b a"))
        #expect(loader.takeRecord() == ["cancel c", "load x"])
        #expect(await read(&updates, until: "x: loading 0") == ["c: placeholder", "x: loading 0"])
        #expect(try model.text(of: "b") == "loading 7")
        guard case .loaded(let kept) = model.state(of: try request("a")) else {
            Issue.record("a has lost its image")
            return
        }
        #expect(kept === image)
    }

    @Test("a request without a row causes no update")
    func goneRequest() async throws {
        let (loader, model) = try list("a b", visible: 0..<2)
        var updates = model.updates.makeAsyncIterator()
        loader.report("a", TransferProgress(received: 7, expected: 9))
        model.setRows(try requests("x"))
        // The load was cancelled: neither its outcome nor its progress has an effect.
        loader.report("a", TransferProgress(received: 8, expected: 9))
        loader.finish("a")
        loader.finish("x")
        #expect(await read(&updates, until: "x: x").allSatisfy { $0.hasPrefix("x:") })
        #expect(try model.text(of: "a") == "placeholder")
    }

    @Test("rows whose requests differ only in priority share a load and a state")
    func priorities() async throws {
        let loader = HeldLoader()
        let urgent = ImageRequest("https://example.org/a", priority: .veryHigh)
        let model = ImageListModel(loader: loader, rows: [try request("a"), urgent], pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<2)
        #expect(loader.takeRecord() == ["load a"])
        loader.finish("a")
        #expect(await read(&updates, until: "a: a").filter { $0 == "a: a" }.count == 1)
        #expect(try model.text(of: "a") == "a" && model.state(of: urgent).text == "a")
    }

    @Test("an event costs as much in a list of ten thousand rows as in a short one")
    func longList() async throws {
        let loader = HeldLoader()
        // A hundred requests that repeat, further apart than the visible rows.
        let hundred = try (0..<100).map { try request("\($0)") }
        let model = ImageListModel(
            loader: loader, rows: (0..<10_000).map { hundred[$0 % 100] }, pressure: nil)
        model.scrollPhase = .dragging
        for top in 0..<1_000 { model.setVisible(top..<top + 10) }
        #expect(loader.lookups == 1_009)
        #expect(loader.takeRecord() == [])
        model.scrollPhase = .idle
        #expect(loader.takeRecord().count == 20)
        #expect(model.counters.started == 20)
    }
}
