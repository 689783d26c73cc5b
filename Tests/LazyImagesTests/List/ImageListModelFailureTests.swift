import LazyImages
import TestTraits
import Testing

@Suite("A list model keeps failures until a retry may help", .bounded)
struct ImageListModelFailureTests {
    @Test("a failure says whether it is retryable, and is retried on demand")
    func failure() async throws {
        let (loader, model) = try list("a b")
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<2)
        loader.fail("a", .httpStatus(url: "a", status: 503))
        _ = await read(&updates, until: "a: failed http-status, retryable")
        loader.fail("b", .httpStatus(url: "b", status: 404))
        _ = await read(&updates, until: "b: failed http-status")
        #expect(model.counters.failed == 2)
        _ = loader.takeRecord()
        model.retry(try request("a"))
        #expect(loader.takeRecord() == ["load a"])
        #expect(try model.text(of: "a") == "loading 0")
        model.retryFailed()
        #expect(loader.takeRecord() == ["load b"])
    }

    @Test("a retry while the list moves shows the placeholder until the list rests")
    func deferredRetry() async throws {
        let (loader, model) = try list("a")
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<1)
        loader.fail("a", .notAnImage(url: "a", reason: "text"))
        _ = await read(&updates, until: "a: failed not-an-image")
        model.scrollPhase = .dragging
        model.retry(try request("a"))
        #expect(try model.text(of: "a") == "placeholder")
    }

    @Test("a failure shows again when its row comes back early, and is forgotten after the pause")
    func comingBack() async throws {
        let loader = HeldLoader()
        let clock = ManualClock()
        let model = ImageListModel(
            loader: loader, rows: try requests("a b c d e"),
            pauses: ScrollPauses(afterFailure: .seconds(5)), clock: clock, pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<1)
        loader.fail("a", .timedOut(url: "a", phase: .connect, seconds: 1))
        let failed = "a: failed timed-out, retryable"
        _ = await read(&updates, until: failed)
        model.setVisible(4..<5)
        model.scrollPhase = .dragging
        clock.advance(by: .seconds(4))
        model.setVisible(0..<1)
        #expect(try model.text(of: "a") == "failed timed-out, retryable")
        model.setVisible(4..<5)
        clock.advance(by: .seconds(1))
        model.setVisible(0..<1)
        #expect(try model.text(of: "a") == "placeholder")
        _ = loader.takeRecord()
        model.scrollPhase = .idle
        #expect(loader.takeRecord() == ["load a"])
    }

    @Test(
        "a failed prefetch is forgotten as its row becomes visible, also while the list moves")
    func failureAhead() async throws {
        let loader = HeldLoader()
        let clock = ManualClock()
        let model = ImageListModel(
            loader: loader, rows: try requests("a b c"), pauses: ScrollPauses(afterFailure: .seconds(5)),
            clock: clock, pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<1)
        loader.fail("a", .httpStatus(url: "a", status: 404))
        _ = await read(&updates, until: "a: failed http-status")
        model.setVisible(2..<3)
        model.scrollPhase = .dragging
        model.setVisible(1..<2)
        clock.advance(by: .seconds(5))
        model.setVisible(0..<1)
        #expect(try model.text(of: "a") == "placeholder")
    }
}
