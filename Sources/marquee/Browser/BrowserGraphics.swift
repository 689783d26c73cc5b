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

    private let subject: Browser.Subject
    private let isInTmux: Bool
    private var answers: TerminalAnswers
    private var cell: ImageSize?

    init(_ subject: Browser.Subject, isInTmux: Bool = Terminal.isInTmux) {
        self.subject = subject
        self.isInTmux = isInTmux
        answers = TerminalAnswers(isInTmux: isInTmux)
    }

    /// Asks the terminal, unless the user and the environment have said all.
    func ask(_ terminal: TerminalSession) throws(TerminalError) {
        if subject.depth == .none { return }
        let limit = Terminal.answerLimit
        if subject.asksForGraphics, Terminal.canBeAsked {
            let questions = isInTmux ? TerminalAnswers.questionsInTmux : TerminalAnswers.questions
            try terminal.ask(questions, barriers: isInTmux ? 2 : 1, limit: limit)
        } else if subject.depth < .trueColour {
            try terminal.ask(TerminalVersion.question, limit: limit)
        }
    }

    /// Takes an answer of the terminal. What comes after the last one changes nothing.
    mutating func take(_ answer: [UInt8]) {
        if !answers.isComplete { answers.take(answer) }
    }

    /// Takes the pixels of a cell, if the terminal tells them. A larger font changes them.
    mutating func take(cell: ImageSize?) { self.cell = cell }

    var appearance: Appearance {
        let depth = subject.depth > .none && answers.showsTrueColour ? .trueColour : subject.depth
        return Appearance(
            depth: depth, way: way(depth), cell: cell ?? answers.cell ?? PictureProtocol.usualCell)
    }

    private func way(_ depth: ColourDepth) -> PictureProtocol? {
        let answered = subject.asksForGraphics && answers.isComplete ? answers.graphics : nil
        // A sixel picture of a wrong size would lie over other cells.
        if answered == .sixel, cell == nil, answers.cell == nil { return nil }
        return PictureProtocol(answered ?? subject.graphics, depth: depth, isInTmux: isInTmux)
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
