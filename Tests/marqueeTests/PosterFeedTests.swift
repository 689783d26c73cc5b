import ImageCodecs
import LazyImages
import TerminalGraphics
import TestSupport
import TestTraits
import Testing

@testable import FilmBrowser

@Suite("The browser's posters by request", .bounded)
struct PosterFeedTests {
    private struct NoPicture: Error {}

    private static let size = CellSize(columns: 4, rows: 2)
    private let loader = ImageLoader(disk: nil, pressure: nil)
    private let model: ImageListModel
    private let feed: PosterFeed
    private let picture = ImageRequest(id: "picture") { SampleImages.png }
    private let broken = ImageRequest(id: "broken") { () throws -> [UInt8] in throw NoPicture() }

    init() {
        model = ImageListModel(loader: loader, pressure: nil)
        feed = PosterFeed(
            model, canvas: GraphicsMode.blocks.canvas(depth: .trueColour),
            drawElsewhere: { _ in Issue.record("the pictures here are small") })
    }

    /// Waits until the visible posters have loaded.
    private func settled() async throws {
        try await eventually { model.counters.running + model.counters.prefetching == 0 }
    }

    private func view(_ row: Int) -> String {
        switch feed.view(ofRow: row, size: Self.size, loader: loader, isMoving: false) {
        case .card(.waiting): "placeholder"
        case .card(.loading): "loading"
        case .picture: "picture"
        case .card(.failed): "failed"
        case .card(.missing): "missing"
        }
    }

    @Test("updates of a request without a row have no effect")
    func goneRequest() async throws {
        feed.setRows(ListRows([broken]), visible: 0..<1, focus: 0)
        try await settled()
        #expect(view(0) == "failed" && feed.failure(ofRow: 0) != nil)
        feed.setRows(ListRows([picture, nil]), visible: 0..<2, focus: 0)
        #expect(view(0) != "failed" && feed.failure(ofRow: 0) == nil)
        #expect(view(1) == "missing" && !feed.hasRequest(forRow: 1))
        try await settled()
        #expect(view(0) == "picture")
    }

    @Test("a request in both lists keeps its picture while the model changes lists")
    func keptRequest() async throws {
        feed.setRows(ListRows([picture]), visible: 0..<1, focus: 0)
        try await settled()
        #expect(view(0) == "picture")
        feed.setRows(ListRows([broken, picture]), visible: 0..<2, focus: 0)
        // Neither a drawn picture nor the memory tier helps here: the state itself is kept.
        feed.use(GraphicsMode.blocks.canvas(depth: .trueColour))
        loader.memory.removeAll()
        #expect(view(0) != "picture" && view(1) == "picture")
        try await settled()
        #expect(view(0) == "failed" && view(1) == "picture")
    }

    /// The drawing work for another thread.
    private final class Jobs {
        var list: [@Sendable () -> PosterFeed.Drawing] = []
    }

    @Test("a pixel picture is drawn on another thread, and blocks show meanwhile")
    func pixels() async throws {
        let jobs = Jobs()
        let canvas = PixelCanvas(
            .kitty, cell: ImageSize(width: 8, height: 16), blocks: BlocksCanvas(depth: .trueColour))
        let feed = PosterFeed(model, canvas: canvas) { jobs.list.append($0) }
        feed.setRows(ListRows([picture]), visible: 0..<1, focus: 0)
        try await eventually { model.counters.running + model.counters.prefetching == 0 }
        for _ in 0..<2 {
            guard
                case .picture(let grid) = feed.view(ofRow: 0, size: Self.size, loader: loader, isMoving: true)
            else {
                Issue.record("no picture")
                return
            }
            #expect(grid.pictures.isEmpty && jobs.list.count == 1)
        }
        feed.take(jobs.list[0]())
        guard case .picture(let grid) = feed.view(ofRow: 0, size: Self.size, loader: loader, isMoving: false)
        else {
            Issue.record("no picture")
            return
        }
        #expect(grid.pictures.count == 1 && jobs.list.count == 1)
    }
}
