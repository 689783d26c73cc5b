import ImageCodecs
import LazyImages
import SystemSupport
import Testing

@Suite("A list model loads what is on the screen", .timeLimit(.minutes(30)))
struct ImageListModelTests {
    @Test("visible rows are asked for from the middle outwards, then the page ahead")
    func order() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b c d e f"), pressure: nil)
        await model.setVisible(0..<3)
        #expect(
            loader.takeRecord() == ["load b", "load a", "load c", "prefetch d", "prefetch e", "prefetch f"])
        #expect(model.counters.running == 3)
        #expect(model.counters.prefetching == 3)
        #expect(model.counters.visible == 3)
        #expect(model.counters.started == 6)
    }

    @Test("nothing starts while the list is dragged or decelerates")
    func flags() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b c d e f"), pressure: nil)
        await model.willBeginDragging()
        await model.setVisible(0..<2)
        #expect(await model.isDragging)
        #expect(model.counters.deferred == 2)
        await model.didEndDragging(willDecelerate: true)
        await model.setVisible(1..<3)
        #expect(await model.isDecelerating)
        #expect(loader.takeRecord() == [])
        await model.didEndDecelerating()
        #expect(loader.takeRecord() == ["load b", "load c", "prefetch d", "prefetch e"])
        #expect(model.counters.deferred == 0)
    }

    @Test("a list that is caught while it decelerates still waits")
    func caught() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a"), pressure: nil)
        await model.didEndDragging(willDecelerate: true)
        await model.setVisible(0..<1)
        await model.willBeginDragging()
        await model.didEndDecelerating()
        #expect(loader.takeRecord() == [])
        await model.didEndDragging(willDecelerate: false)
        #expect(loader.takeRecord() == ["load a"])
    }

    @Test("what memory has is shown before the call returns, also while the list is dragged")
    func memoryHit() async throws {
        let loader = HeldLoader(memory: ["b"])
        let model = ImageListModel(loader: loader, rows: try requests("a b"), pressure: nil)
        await model.willBeginDragging()
        await model.setVisible(0..<2)
        #expect(loader.takeRecord() == ["pin b"])
        #expect(try model.text(of: "a") == "placeholder")
        #expect(try model.text(of: "b") == "b")
    }

    @Test("a request that wants the network, or names its bytes, is not answered from memory")
    func bypass() async throws {
        var reload = try ImageRequest("https://example.org/a")
        reload.cachePolicy = .reload
        let checked = try ImageRequest("https://example.org/b", checksum: String(repeating: "0", count: 64))
        let loader = HeldLoader(memory: ["a", "b"])
        let model = ImageListModel(loader: loader, rows: [reload, checked], pressure: nil)
        await model.setVisible(0..<2)
        #expect(loader.takeRecord() == ["load a", "load b"])
        #expect(loader.lookups == 0)
    }

    @Test("a row that leaves gives up its load, unless a visible row shares it")
    func leaving() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b c a"), pressure: nil)
        await model.setVisible(0..<2)
        #expect(loader.takeRecord() == ["load a", "load b", "prefetch c"])
        await model.setVisible(2..<4)
        #expect(loader.takeRecord() == ["cancel b", "raise c"])
        var updates = model.updates.makeAsyncIterator()
        loader.finish("a")
        #expect(await read(&updates, until: "a: a").contains("a: a"))
    }

    @Test("a cancelled load's late answer is not taken for that of the load begun since")
    func late() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b c"), pressure: nil)
        await model.setVisible(0..<1)
        await model.setVisible(2..<3)
        await model.setVisible(0..<1)
        #expect(loader.takeRecord().filter { $0.hasSuffix("a") } == ["load a", "cancel a", "load a"])
        var updates = model.updates.makeAsyncIterator()
        loader.finish("a")
        #expect(
            try await read(&updates, until: "a: a") == ["a: loading 0", "a: a"] || model.text(of: "a") == "a")
    }

    @Test("a row shows its placeholder, the progress, the image, and the placeholder when it has left")
    func sequence() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b c"), pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        #expect(try model.text(of: "a") == "placeholder")
        await model.setVisible(0..<1)
        #expect(await read(&updates, until: "b: loading 0") == ["a: loading 0", "b: loading 0"])
        loader.report("a", TransferProgress(received: 7, expected: 9))
        #expect(await read(&updates, until: "a: loading 7") == ["a: loading 7"])
        loader.finish("a")
        #expect(await read(&updates, until: "a: a") == ["a: a"])
        await model.setVisible(2..<3)
        #expect(
            await read(&updates, until: "c: loading 0") == [
                "a: placeholder", "b: placeholder", "c: loading 0",
            ])
    }

    @Test("a row shows previews where they are asked for, and never one in the place of its image")
    func previews() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(
            loader: loader, rows: try requests("a b"), wantsPreviews: true, pressure: nil)
        await model.setVisible(0..<2)
        var updates = model.updates.makeAsyncIterator()
        func preview(_ number: Int) -> ImagePreview {
            ImagePreview(
                bitmap: Bitmap(width: 1, height: 1, pixels: [0, 0, 0, 0], isComplete: false), number: number)
        }
        loader.show("a", preview(1))
        _ = await read(&updates, until: "a: loading 0, preview 1")
        loader.report("a", TransferProgress(received: 7, expected: 9))
        _ = await read(&updates, until: "a: loading 7, preview 1")
        loader.show("a", preview(2))
        loader.finish("a")
        _ = await read(&updates, until: "a: a")
        // The model takes what is told in turn: the preview has been looked at once this one has.
        loader.show("b", preview(3))
        #expect(
            await read(&updates, until: "b: loading 0, preview 3").allSatisfy { !$0.hasPrefix("a: loading") })
        #expect(try model.text(of: "a") == "a")

        let plain = ImageListModel(loader: loader, rows: try requests("c"), pressure: nil)
        await plain.setVisible(0..<1)
        #expect(loader.wantsPreviews("b") && !loader.wantsPreviews("c"))
    }

    @Test("rows are made when they are looked at")
    func madeOnDemand() async throws {
        let asked = Lock<Set<Int>>([])
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, pressure: nil)
        let rows = ListRows(count: 100_000) { row in
            asked.withLock { _ = $0.insert(row) }
            // Losing the error is right: the address is one.
            return try? request("\(row)")
        }
        await model.setRows(rows, visible: 500..<502)
        #expect(loader.takeRecord() == ["load 500", "load 501", "prefetch 502", "prefetch 503"])
        await model.setVisible(99_999..<100_000)
        #expect(loader.takeRecord().contains("load 99999"))
        #expect(asked.withLock { $0 } == [500, 501, 502, 503, 99_999])
        #expect(rows[-1] == nil && rows[100_000] == nil)
    }

    @Test("an image that was prefetched is told once, and a retry tells only of what failed")
    func onlyNews() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b c d"), pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        await model.setVisible(0..<2)
        loader.finish("a")
        loader.finish("b")
        loader.finish("c")
        loader.fail("d", .httpStatus(url: "d", status: 500))
        _ = await read(&updates, until: "a: a", "b: b", "c: c", "d: failed http-status, retryable")
        await model.setVisible(1..<3)
        #expect(await read(&updates, until: "a: placeholder") == ["a: placeholder"])
        await model.retryFailed()
        #expect(await read(&updates, until: "d: loading 0") == ["d: loading 0"])
    }

    @Test("a memory warning stops prefetches and lets go of images nobody sees")
    func memoryWarning() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b c d"), pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        await model.setVisible(0..<2)
        loader.finish("a")
        loader.finish("c")
        _ = await read(&updates, until: "a: a", "c: c")
        _ = loader.takeRecord()
        await model.didReceiveMemoryWarning()
        #expect(loader.takeRecord() == ["cancel d"])
        #expect(try model.text(of: "c") == "placeholder")
        #expect(try model.text(of: "a") == "a")
        #expect(model.counters.prefetching == 0)
    }

    @Test("images on the screen are pinned, and are not when they leave or the model goes")
    func pinning() async throws {
        let loader = HeldLoader(memory: ["a", "b", "c"])
        var model: ImageListModel? = ImageListModel(
            loader: loader, rows: try requests("a b c"), pressure: nil)
        await model?.setVisible(0..<1)
        #expect(loader.takeRecord() == ["pin a"])
        await model?.setVisible(1..<2)
        #expect(loader.takeRecord() == ["unpin a", "pin b"])
        model = nil
        #expect(loader.takeRecord() == ["unpin b"])
    }

    @Test("the rows of another list show their own images, and those that left their placeholders")
    func anotherList() async throws {
        let loader = HeldLoader(memory: ["a", "x"])
        let model = ImageListModel(loader: loader, rows: try requests("a b"), pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        await model.setVisible(0..<2)
        #expect(await read(&updates, until: "b: loading 0") == ["a: a", "b: loading 0"])
        await model.setRows(try requests("x"))
        #expect(await read(&updates, until: "x: x") == ["a: placeholder", "b: placeholder", "x: x"])
        #expect(loader.takeRecord() == ["pin a", "load b", "unpin a", "cancel b", "pin x"])
    }

    @Test("a request that two lists have keeps its image and its load, without an update")
    func keptRequest() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b c"), pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        await model.setVisible(0..<3)
        loader.finish("a")
        loader.report("b", TransferProgress(received: 7, expected: 9))
        _ = await read(&updates, until: "a: a", "b: loading 7")
        _ = loader.takeRecord()
        guard case .loaded(let image) = model.state(of: try request("a")) else {
            Issue.record("a has no image")
            return
        }
        await model.setRows(try requests("x b a"))
        #expect(loader.takeRecord() == ["cancel c", "load x"])
        #expect(await read(&updates, until: "x: loading 0") == ["c: placeholder", "x: loading 0"])
        #expect(try model.text(of: "b") == "loading 7")
        guard case .loaded(let kept) = model.state(of: try request("a")) else {
            Issue.record("a has lost its image")
            return
        }
        #expect(kept === image)
    }

    @Test("what happens to a request that no row shows any more is no news")
    func goneRequest() async throws {
        let loader = HeldLoader()
        let model = ImageListModel(loader: loader, rows: try requests("a b"), pressure: nil)
        await model.setVisible(0..<2)
        var updates = model.updates.makeAsyncIterator()
        loader.report("a", TransferProgress(received: 7, expected: 9))
        await model.setRows(try requests("x"))
        // Its load was cancelled: neither outcome nor progress has an effect.
        loader.report("a", TransferProgress(received: 8, expected: 9))
        loader.finish("a")
        loader.finish("x")
        #expect(await read(&updates, until: "x: x").allSatisfy { $0.hasPrefix("x:") })
        #expect(try model.text(of: "a") == "placeholder")
    }

    @Test("rows whose requests differ only in priority share a load and a state")
    func priorities() async throws {
        let loader = HeldLoader()
        let urgent = try ImageRequest("https://example.org/a", priority: .veryHigh)
        let model = ImageListModel(loader: loader, rows: [try request("a"), urgent], pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        await model.setVisible(0..<2)
        #expect(loader.takeRecord() == ["load a"])
        loader.finish("a")
        #expect(await read(&updates, until: "a: a").filter { $0 == "a: a" }.count == 1)
        #expect(try model.text(of: "a") == "a" && model.state(of: urgent).text == "a")
    }

    @Test("letting go of the model cancels its loads and ends its updates")
    func end() async throws {
        let loader = HeldLoader()
        var model: ImageListModel? = ImageListModel(
            loader: loader, rows: try requests("a b"), pressure: nil)
        let updates = try #require(model?.updates)
        await model?.setVisible(0..<1)
        #expect(loader.takeRecord() == ["load a", "prefetch b"])
        model = nil
        #expect(loader.takeRecord().sorted() == ["cancel a", "cancel b"])
        for await _ in updates {}
    }

    @Test("the real loader's images reach their rows")
    func realLoader() async throws {
        // A PNG of one pixel.
        let pixel =
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAY"
            + "AAAAfFcSJAAAAC0lEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII="
        let loader = ImageLoader(disk: nil, pressure: nil)
        let request = try ImageRequest(pixel)
        let model = ImageListModel(loader: loader, rows: [request, nil], pressure: nil)
        var updates = model.updates.makeAsyncIterator()
        await model.setVisible(0..<2)
        while let update = await updates.next() {
            #expect(update.key == LoadKey(request))
            if case .failed(let reason, _) = update.state { Issue.record(reason) }
            if case .loading = update.state { continue }
            break
        }
        #expect(model.counters.started == 1)
        #expect(loader.memory.counters.entries == 1)
    }

    @Test("ten thousand rows cost no more an event than those on the screen")
    func longList() async throws {
        let loader = HeldLoader()
        // A hundred images over and over: further apart than the rows on the screen, and quickly made.
        let hundred = try (0..<100).map { try request("\($0)") }
        let model = ImageListModel(
            loader: loader, rows: (0..<10_000).map { hundred[$0 % 100] }, pressure: nil)
        await model.willBeginDragging()
        for top in 0..<1_000 { await model.setVisible(top..<top + 10) }
        #expect(loader.lookups == 1_009)
        #expect(loader.takeRecord() == [])
        await model.didEndDragging(willDecelerate: false)
        #expect(loader.takeRecord().count == 20)
        #expect(model.counters.started == 20)
    }
}
