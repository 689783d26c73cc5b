import LazyImages
import TerminalGraphics

/// What the browser's thread has to do with one list model: what it tells it, and what it has heard of its rows.
struct PosterFeed {
    /// Where a model's rows are shown.
    enum Place: CaseIterable {
        /// All films in a list or on a wall.
        case list
        /// The selected one in full.
        case film
    }

    /// What a model is told, in order.
    typealias Command = @Sendable (ImageListModel) async -> Void

    let model: ImageListModel
    var board: PosterBoard
    private let commands: AsyncStream<Command>.Continuation
    private var shown = 0..<0

    init(
        _ model: ImageListModel, commands: AsyncStream<Command>.Continuation, board: PosterBoard
    ) {
        self.model = model
        self.commands = commands
        self.board = board
    }

    mutating func setRows(_ rows: ListRows, visible: Range<Int>) {
        shown = visible
        board.begin(rows)
        commands.yield { await $0.setRows(rows, visible: visible) }
    }

    mutating func setVisible(_ visible: Range<Int>) {
        guard visible != shown else { return }
        shown = visible
        commands.yield { await $0.setVisible(visible) }
    }

    func retry() { commands.yield { await $0.retryFailed() } }

    func tell(_ change: ScrollMotion.Change) {
        switch change {
        case .beganDragging: commands.yield { await $0.willBeginDragging() }
        case .endedDragging: commands.yield { await $0.didEndDragging(willDecelerate: false) }
        case .beganGliding: commands.yield { await $0.didEndDragging(willDecelerate: true) }
        case .endedGliding: commands.yield { await $0.didEndDecelerating() }
        }
    }
}
