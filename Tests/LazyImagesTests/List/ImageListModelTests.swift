import Dispatch
import ImageCodecs
import LazyImages
import TestSupport
import TestTraits
import Testing

@Suite("A list model loads the visible images", .bounded)
struct ImageListModelTests {
    @Test("visible rows load from the middle outwards, then the page ahead is prefetched")
    func order() async throws {
        let (loader, model) = try list("a b c d e f", visible: 0..<3)
        #expect(
            loader.takeRecord() == ["load b", "load a", "load c", "prefetch d", "prefetch e", "prefetch f"])
        #expect(model.counters.running == 3)
        #expect(model.counters.prefetching == 3)
        #expect(model.counters.visible == 3)
        #expect(model.counters.started == 6)
    }

    @Test("nothing starts while the list is dragged or decelerates")
    func flags() async throws {
        let (loader, model) = try list("a b c d e f")
        model.scrollPhase = .dragging
        model.setVisible(0..<2)
        #expect(model.scrollPhase == .dragging)
        #expect(model.counters.deferred == 2)
        model.scrollPhase = .decelerating
        model.setVisible(1..<3)
        #expect(model.scrollPhase == .decelerating)
        #expect(loader.takeRecord() == [])
        model.scrollPhase = .idle
        #expect(loader.takeRecord() == ["load b", "load c", "prefetch d", "prefetch e"])
        #expect(model.counters.deferred == 0)
    }

    @Test("images in memory show before the call returns, also while the list is dragged")
    func memoryHit() async throws {
        let (loader, model) = try list("a b", memory: ["b"])
        model.scrollPhase = .dragging
        model.setVisible(0..<2)
        #expect(loader.takeRecord() == ["pin b"])
        #expect(try model.text(of: "a") == "placeholder")
        #expect(try model.text(of: "b") == "b")
    }

    @Test("a request with the policy reload or with a checksum is not answered from memory")
    func bypass() async throws {
        var reload = ImageRequest("https://example.org/a")
        reload.cachePolicy = .reload
        let checked = ImageRequest(
            "https://example.org/b", options: .init(checksum: String(repeating: "0", count: 64)))
        let loader = HeldLoader(memory: ["a", "b"])
        let model = ImageListModel(loader: loader, rows: [reload, checked], pressure: nil)
        model.setVisible(0..<2)
        #expect(loader.takeRecord() == ["load a", "load b"])
        #expect(loader.lookups == 0)
    }

    @Test("the load of a row that leaves is cancelled, unless a visible row shares it")
    func leaving() async throws {
        let (loader, model) = try list("a b c a", visible: 0..<2)
        #expect(loader.takeRecord() == ["load a", "load b", "prefetch c"])
        model.setVisible(2..<4)
        #expect(loader.takeRecord() == ["cancel b", "raise c"])
        var updates = model.updates.makeAsyncIterator()
        loader.finish("a")
        #expect(await read(&updates, until: "a: a").contains("a: a"))
    }

    @Test("the late answer of a cancelled load does not count for the load that followed it")
    func late() async throws {
        let (loader, model) = try list("a b c", visible: 0..<1)
        model.setVisible(2..<3)
        model.setVisible(0..<1)
        #expect(loader.takeRecord().filter { $0.hasSuffix("a") } == ["load a", "cancel a", "load a"])
        var updates = model.updates.makeAsyncIterator()
        loader.finish("a")
        #expect(
            try await read(&updates, until: "a: a") == ["a: loading 0", "a: a"] || model.text(of: "a") == "a")
    }

    @Test("a row shows its placeholder, the progress, the image, and its placeholder again once it has left")
    func sequence() async throws {
        let (loader, model) = try list("a b c")
        var updates = model.updates.makeAsyncIterator()
        #expect(try model.text(of: "a") == "placeholder")
        model.setVisible(0..<1)
        #expect(await read(&updates, until: "b: loading 0") == ["a: loading 0", "b: loading 0"])
        loader.report("a", TransferProgress(received: 7, expected: 9))
        #expect(await read(&updates, until: "a: loading 7") == ["a: loading 7"])
        loader.finish("a")
        #expect(await read(&updates, until: "a: a") == ["a: a"])
        model.setVisible(2..<3)
        #expect(
            await read(&updates, until: "c: loading 0") == [
                "a: placeholder", "b: placeholder", "c: loading 0",
            ])
    }

    @Test("a row shows previews if the model wants them, and never instead of its image")
    func previews() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(
            loader: loader, rows: try requests("a b"), wantsPreviews: true, pressure: nil)
        model.setVisible(0..<2)
        var updates = model.updates.makeAsyncIterator()
        func preview(_ number: Int) -> ImagePreview {
            ImagePreview(
                bitmap: Bitmap(width: 1, height: 1, pixels: [0, 0, 0, 0], damage: .truncated(offset: 0)),
                number: number)
        }
        loader.show("a", preview(1))
        _ = await read(&updates, until: "a: loading 0, preview 1")
        loader.report("a", TransferProgress(received: 7, expected: 9))
        _ = await read(&updates, until: "a: loading 7, preview 1")
        loader.show("a", preview(2))
        loader.finish("a")
        _ = await read(&updates, until: "a: a")
        // The model handles events in order: once this preview shows, the one before has been handled.
        loader.show("b", preview(3))
        #expect(
            await read(&updates, until: "b: loading 0, preview 3").allSatisfy { !$0.hasPrefix("a: loading") })
        #expect(try model.text(of: "a") == "a")

        let plain = ImageListModel(loader: loader, rows: try requests("c"), pressure: nil)
        plain.setVisible(0..<1)
        #expect(loader.wantsPreviews("b") && !loader.wantsPreviews("c"))
    }

    @Test("a prefetched image causes one update, and a retry updates only failed rows")
    func onlyNews() async throws {
        let (loader, model) = try list("a b c d")
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<2)
        loader.finish("a")
        loader.finish("b")
        loader.finish("c")
        loader.fail("d", .httpStatus(url: "d", status: 500))
        _ = await read(&updates, until: "a: a", "b: b", "c: c", "d: failed http-status, retryable")
        model.setVisible(1..<3)
        #expect(await read(&updates, until: "a: placeholder") == ["a: placeholder"])
        model.retryFailed()
        #expect(await read(&updates, until: "d: loading 0") == ["d: loading 0"])
    }

    @Test("a memory warning cancels prefetches and releases invisible images")
    func memoryWarning() async throws {
        let (loader, model) = try list("a b c d")
        var updates = model.updates.makeAsyncIterator()
        model.setVisible(0..<2)
        loader.finish("a")
        loader.finish("c")
        _ = await read(&updates, until: "a: a", "c: c")
        _ = loader.takeRecord()
        model.didReceiveMemoryWarning()
        #expect(loader.takeRecord() == ["cancel d"])
        #expect(try model.text(of: "c") == "placeholder")
        #expect(try model.text(of: "a") == "a")
        #expect(model.counters.prefetching == 0)
    }

    @Test("visible images are pinned until they leave or the model is released")
    func pinning() async throws {
        let loader = HeldLoader(memory: ["a", "b", "c"])
        var model: ImageListModel? = ImageListModel(
            loader: loader, rows: try requests("a b c"), pressure: nil)
        model?.setVisible(0..<1)
        #expect(loader.takeRecord() == ["pin a"])
        model?.setVisible(1..<2)
        #expect(loader.takeRecord() == ["unpin a", "pin b"])
        model = nil
        #expect(loader.takeRecord() == ["unpin b"])
    }

    @Test("releasing the model cancels its loads and ends its updates")
    func end() async throws {
        let loader = HeldLoader()
        var model: ImageListModel? = ImageListModel(
            loader: loader, rows: try requests("a b"), pressure: nil)
        let updates = try #require(model?.updates)
        model?.setVisible(0..<1)
        #expect(loader.takeRecord() == ["load a", "prefetch b"])
        model = nil
        #expect(loader.takeRecord().sorted() == ["cancel a", "cancel b"])
        for await _ in updates {}
    }

    @Test("an update names the rows that have its request now, and what to draw in them")
    func rows() async throws {
        let loader = HeldLoader(memory: ["a"])
        let waiting = Bitmap(width: 1, height: 1, pixels: [9, 9, 9, 255])
        let broken = Bitmap(width: 1, height: 1, pixels: [255, 0, 0, 255])
        let model = ImageListModel(
            loader: loader, rows: try requests("a b a c a"), placeholder: waiting, failurePicture: broken,
            pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        /// The next update of an image.
        func next(_ name: String) async throws -> RowUpdate? {
            let key = LoadKey(try request(name))
            while let update = await updates.next() { if update.key == key { return update } }
            return nil
        }
        model.setVisible(0..<2)
        let loaded = try await next("a")
        #expect(loaded?.rows == [0, 2])
        #expect(try loaded?.bitmap == model.bitmap(for: request("a")))
        let loading = try await next("b")
        #expect(loading?.rows == [1] && loading?.bitmap == waiting)
        loader.fail("b", .httpStatus(url: "b", status: 404))
        let failed = try await next("b")
        #expect(failed?.rows == [1] && failed?.bitmap == broken)
        // The image is the same, in other rows.
        model.setVisible(2..<5)
        #expect(try await next("a")?.rows == [2, 4])
        model.setRows(try requests("c a"), visible: 0..<1)
        let moved = try await next("a")
        #expect(moved?.rows == [1])
        model.setRows([], visible: 0..<0)
        let gone = try await next("a")
        #expect(gone?.rows == [] && gone?.bitmap == waiting)
    }

    @Test("the phase and the visible rows have their effects at once, in order")
    func atOnce() async throws {
        let (loader, model) = try list("a b c", memory: ["c"])
        let shown = Tally()
        let observation = model.observe { update in if case .loaded = update.state { shown.add() } }
        model.scrollPhase = .dragging
        model.setVisible(0..<2)
        model.scrollPhase = .decelerating
        model.setVisible(2..<3)
        #expect(model.scrollPhase == .decelerating && model.visibleRows == 2..<3)
        #expect(loader.takeRecord() == ["pin c"], "nothing loads while the list moves")
        try await shown.wait(for: 1)
        model.setVisible(0..<1)
        model.scrollPhase = .idle
        #expect(loader.takeRecord().contains("load a"))
        observation.cancel()
    }

    @Test("an observation on an executor calls its closure there")
    func executor() async throws {
        final class MainLoop: TaskExecutor {
            static let key = DispatchSpecificKey<Bool>()
            private let queue = DispatchQueue(label: "a program's main loop")
            init() { queue.setSpecific(key: Self.key, value: true) }

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
        let loader = HeldLoader(memory: ["a"])
        let model = ImageListModel(loader: loader, rows: try requests("a"), pressure: nil)
        let (there, elsewhere) = (Tally(), Tally())
        let observation = model.observe(on: MainLoop()) { _ in
            (DispatchQueue.getSpecific(key: MainLoop.key) == true ? there : elsewhere).add()
        }
        model.setVisible(0..<1)
        try await there.wait(for: 1)
        #expect(elsewhere.count == 0)
        observation.cancel()
    }

    @Test("an observation ends when it is released, and with the model")
    func observation() async throws {
        final class Witness: Sendable {}
        let loader = HeldLoader(memory: ["a"])
        var model: ImageListModel? = ImageListModel(loader: loader, rows: try requests("a"), pressure: nil)
        let heard = Tally()
        /// An observation whose closure holds an object; it is released when the observation has ended.
        func observe() throws -> (observation: RowObservation, witness: () -> Bool) {
            let witness = Witness()
            weak let released = witness
            let observation = try #require(model).observe { _ in
                withExtendedLifetime(witness) { heard.add() }
            }
            return (observation, { released == nil })
        }
        var (first, firstHasEnded): (RowObservation?, () -> Bool) = try observe()
        let (second, secondHasEnded) = try observe()
        model?.setVisible(0..<1)
        try await heard.wait(for: 2)
        #expect(!firstHasEnded() && !secondHasEnded())
        withExtendedLifetime(first) {}
        first = nil
        try await eventually { firstHasEnded() }
        #expect(!secondHasEnded())
        model = nil
        try await eventually { secondHasEnded() }
        withExtendedLifetime(second) {}
    }
}
