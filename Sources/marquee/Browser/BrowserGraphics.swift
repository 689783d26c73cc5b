import ImageCodecs
import TerminalGraphics

/// How the browser draws pictures: as the user said, else as the terminal answers, else in blocks.
///
/// Kitty's pictures are placed directly, also where the terminal knows placeholders: to scroll a poster by a line is 70 bytes
/// then, and some 1,500 by placeholders. Inside tmux there are only those.
struct BrowserGraphics {
    /// What the screen's bytes depend on.
    struct Appearance: Equatable {
        var depth: ColourDepth
        /// Nil where pictures are cells alone.
        var way: PictureProtocol?
        /// The pixels of a cell, for pictures in pixels.
        var cell: ImageSize
    }

    /// The pixels of a cell where no terminal tells them. Kitty and iTerm2 scale pictures to their cells.
    private static let usualCell = ImageSize(width: 8, height: 16)

    private let subject: Browser.Subject
    private let isInTmux: Bool
    private var answers = TerminalAnswers()
    private var cell: ImageSize?

    init(_ subject: Browser.Subject, isInTmux: Bool = Terminal.isInTmux) {
        self.subject = subject
        self.isInTmux = isInTmux
    }

    /// What to ask the terminal; empty where the user and the environment have said all.
    var questions: [UInt8] {
        if subject.depth == .none { return [] }
        if subject.asksForGraphics, Terminal.canBeAsked { return TerminalAnswers.questions }
        return subject.depth < .trueColour ? TerminalVersion.query : []
    }

    /// Takes an answer of the terminal. What comes after the last one changes nothing.
    mutating func take(_ answer: [UInt8]) {
        if !answers.isComplete { answers.take(answer) }
    }

    /// Takes the pixels of a cell, if the terminal tells them. A larger font changes them.
    mutating func take(cell: ImageSize?) { self.cell = cell }

    var appearance: Appearance {
        let depth = subject.depth > .none && answers.showsTrueColour ? .trueColour : subject.depth
        return Appearance(depth: depth, way: way(depth), cell: cell ?? answers.cell ?? Self.usualCell)
    }

    private func way(_ depth: ColourDepth) -> PictureProtocol? {
        let answered = subject.asksForGraphics && answers.isComplete ? answers.graphics : nil
        switch answered ?? subject.graphics {
        case .kitty where !isInTmux: return .kitty
        case .kitty: return depth >= .indexed256 ? .kittyPlaceholders(inTmux: true) : nil
        case .iterm2: return .iterm2
        // A picture of a wrong size would lie over other cells.
        case .sixel where answered != nil && cell == nil && answers.cell == nil: return nil
        case .sixel: return .sixel
        case .blocks, .ascii, .none: return nil
        }
    }

    /// What draws the pictures; nil if there are to be none.
    var canvas: (any Canvas)? {
        let appearance = appearance
        guard let cells = subject.graphics.canvas(depth: appearance.depth) else { return nil }
        return appearance.way.map { PixelCanvas($0, cell: appearance.cell, blocks: cells) } ?? cells
    }

    /// What turns the screen into bytes.
    func encoder(onlyASCII: Bool) -> FrameEncoder {
        FrameEncoder(depth: appearance.depth, onlyASCII: onlyASCII, pictures: appearance.way)
    }
}
