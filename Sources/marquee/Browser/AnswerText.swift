import HTTPSemantics
import LazyImages
import TerminalGraphics

/// A server's answer as text for a person: the address, why there is no picture, the status line, the header and the
/// source of the body. The text is safe for a terminal.
struct AnswerText: Sendable, Equatable {
    /// The most characters of a body that are shown.
    static let longestBody = 32 * 1024
    /// The empty columns at each side of the text.
    private static let margin = BrowserLayout.margin

    private struct Paragraph: Equatable {
        let text: String
        var style = CellStyle()
    }

    private var paragraphs: [Paragraph]

    /// - Parameters:
    ///   - address: the address without credentials.
    ///   - error: why there is no picture.
    ///   - head: nil if there was no answer, or the address is of a file.
    init(address: String, because error: ImageLoadingError, head: ResponseHead?, body: [UInt8], type: String?)
    {
        paragraphs = [
            Paragraph(text: TerminalText.visible(address), style: BrowserScreen.bold),
            Paragraph(text: TerminalText.visible(ImageLoadingError.withoutAddress(error.advised))),
            Paragraph(text: ""),
        ]
        if let head {
            let reason = HTTPStatus(rawValue: head.status).reason
            add("HTTP \(head.status) \(reason)", BrowserScreen.bold)
            for field in head.fields.fields { add("\(field.name): \(field.value)", BrowserScreen.dim) }
            add("")
        }
        guard !body.isEmpty else { return }
        // Decodes all of the body: a part may end within a character and look like another charset.
        guard let text = ReadableText.text(of: body, type: type) else {
            add("(\(body.count) bytes, which are no text)", BrowserScreen.dim)
            return
        }
        let beginning = text.prefix(Self.longestBody)
        for line in TerminalText.visible(String(beginning), keepingNewlines: true).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            paragraphs.append(Paragraph(text: String(line)))
        }
        if beginning.endIndex < text.endIndex {
            add("(cut: the body has \(body.count) bytes)", BrowserScreen.dim)
        }
    }

    private mutating func add(_ text: String, _ style: CellStyle = CellStyle()) {
        paragraphs.append(Paragraph(text: TerminalText.visible(text), style: style))
    }

    /// The text in lines of at most this width, in cells.
    func lines(width: Int) -> [StyledText] {
        paragraphs.flatMap { paragraph in
            TerminalText.wrapped(paragraph.text, toWidth: max(1, width - 2 * Self.margin))
                .map { StyledText($0, paragraph.style) }
        }
    }

    /// Draws the lines, beginning with line number `top`.
    func draw(on grid: inout CellGrid, in body: CellRectangle, from top: Int) {
        let lines = lines(width: body.size.columns).dropFirst(top).prefix(body.size.rows)
        for (index, line) in lines.enumerated() {
            let position = CellPosition(column: Self.margin, row: body.origin.row + index)
            grid.put(line.text, at: position, style: line.style, clip: body)
        }
    }
}
