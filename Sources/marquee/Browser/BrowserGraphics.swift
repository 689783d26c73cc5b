import ImageCodecs
import TerminalGraphics

/// How the browser draws pictures: the user's choice first, then the terminal's answer, else blocks.
///
/// Kitty pictures are placed directly even where the terminal knows placeholders. Scrolling a poster by a line then
/// takes 70 bytes; placeholders take some 1,500. Inside tmux there are only placeholders.
struct BrowserGraphics {
    /// The settings that the screen's bytes depend on.
    struct Appearance: Equatable {
        var depth: ColourDepth
        /// Nil where pictures are drawn in cells only.
        var pictureProtocol: PictureProtocol?
        /// The size of a cell in pixels, for pictures in pixels.
        var cell: ImageSize
        /// Whether the terminal keeps pictures below text.
        var keepsPictures: Bool
    }

    private let settings: Settings
    private let isInTmux = Terminal.isInTmux
    private var answers: TerminalAnswers
    private var cell: ImageSize?

    init(_ settings: Settings) {
        self.settings = settings
        answers = TerminalAnswers(isInTmux: isInTmux)
    }

    /// Asks the terminal, unless the user and the environment have answered every question.
    func ask(_ terminal: TerminalSession) throws(TerminalError) {
        if settings.colourDepth == .none { return }
        let limit = Terminal.answerLimit
        if settings.asksForGraphics, Terminal.canBeAsked {
            let questions = isInTmux ? TerminalAnswers.questionsInTmux : TerminalAnswers.questions
            try terminal.ask(questions, barriers: isInTmux ? 2 : 1, limit: limit)
        } else if settings.colourDepth < .trueColour {
            try terminal.ask(TerminalVersion.question, limit: limit)
        }
    }

    /// Takes an answer of the terminal. Bytes after the last answer change nothing.
    mutating func take(_ answer: [UInt8]) {
        if !answers.isComplete { answers.take(answer) }
    }

    /// Whether the terminal's background is light. A terminal that does not say so is taken for a dark one.
    var isOnLight: Bool { answers.isOnLight ?? Terminal.isOnLight }

    /// Takes the cell's size in pixels, if the terminal tells it. A larger font changes it.
    mutating func take(cell: ImageSize?) { self.cell = cell }

    var appearance: Appearance {
        let usual = settings.colourDepth
        let depth = usual > .none && answers.showsTrueColour ? .trueColour : usual
        return Appearance(
            depth: depth, pictureProtocol: pictureProtocol(depth),
            cell: cell ?? answers.cell ?? PictureProtocol.usualCell,
            keepsPictures: answers.keepsPictures || Terminal.isKonsole && !isInTmux)
    }

    private func pictureProtocol(_ depth: ColourDepth) -> PictureProtocol? {
        let answered = settings.asksForGraphics && answers.isComplete ? answers.graphics : nil
        let chosen = PictureProtocol(answered ?? settings.graphics, depth: depth, isInTmux: isInTmux)
        let hasCell = answered == nil || cell != nil || answers.cell != nil
        return hasCell || chosen?.needsCellSize == false ? chosen : nil
    }

    /// The canvas that draws pictures; nil if none are drawn.
    var canvas: (any Canvas)? {
        let appearance = appearance
        let background = Terminal.background(answers)
        guard let cells = settings.graphics.canvas(depth: appearance.depth, background: background) else {
            return nil
        }
        return appearance.pictureProtocol.map {
            PixelCanvas($0, cell: appearance.cell, blocks: cells, background: background)
        } ?? cells
    }

    /// The encoder that turns the screen into bytes.
    func encoder(onlyASCII: Bool) -> FrameEncoder {
        FrameEncoder(
            depth: appearance.depth, onlyASCII: onlyASCII, pictures: appearance.pictureProtocol,
            keepsPictures: appearance.keepsPictures)
    }
}
