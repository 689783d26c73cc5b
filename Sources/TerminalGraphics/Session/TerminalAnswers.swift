package import ImageCodecs

/// A terminal's answers to queries about itself.
///
///     ESC P > | kitty(0.41.1) ESC \                  XTVERSION: its name and version
///     ESC _ G i=31;OK ESC \                          it takes kitty's pictures
///     ESC ] 1337;ReportCellSize=17.0;8.0;2.0 BEL     the points of a cell: height, width; the pixels of a point
///     ESC [ 6 ; 17 ; 8 t                             the pixels of a cell: height, width
///     ESC [ 4 ; 408 ; 640 t                          the pixels of the window: height, width
///     ESC ] 11 ; rgb:ffff/ffff/e5e5 ESC \            the colour of the background
///     ESC [ ? 62 ; 4 c                               DA1, which every terminal knows; 4 is sixel
///
/// A terminal answers in the order of the queries, so DA1 is last. Under tmux there are two rounds: first tmux answers
/// for itself, then the terminal around it, if tmux passes the queries through.
package struct TerminalAnswers: Sendable, Equatable {
    /// The terminal's name, from XTVERSION.
    package private(set) var name: String?
    /// The terminal's version, from XTVERSION: `[0, 41, 1]`. Empty if it is not numeric.
    package private(set) var version: [Int] = []
    /// Whether it supports kitty's graphics protocol.
    package private(set) var supportsKitty = false
    /// Whether it supports iTerm2's sequences.
    package private(set) var supportsITerm2 = false
    /// Whether it supports sixels.
    package private(set) var supportsSixel = false
    /// The colour of the background; nil if the terminal does not tell.
    package private(set) var background: SIMD3<UInt8>?
    /// Whether the background is nearer to white than to black; nil if the terminal does not tell.
    package var isOnLight: Bool? {
        background.map { 0.299 * Double($0.x) + 0.587 * Double($0.y) + 0.114 * Double($0.z) > 127.5 }
    }
    /// The size of a cell in pixels.
    package var cell: ImageSize? { reportedCell ?? scaledCell }
    /// The size of the window in pixels, if the size of a cell is unknown.
    package var window: ImageSize? { cell == nil ? reportedWindow : nil }
    /// Whether the last answer has arrived.
    package private(set) var isComplete = false

    private var reportedCell: ImageSize?
    private var scaledCell: ImageSize?
    private var reportedWindow: ImageSize?
    /// Whether tmux is between the program and the terminal.
    private let isInTmux: Bool
    /// Whether tmux supports sixels; nil before tmux has answered.
    private var tmuxSupportsSixel: Bool?

    /// Begins without answers.
    package init(isInTmux: Bool = false) {
        self.isInTmux = isInTmux
    }

    /// Whether tmux has answered, but the terminal around it has not. It never does if `allow-passthrough` is off, the
    /// default.
    package var awaitsOuterTerminal: Bool { tmuxSupportsSixel != nil && !isComplete }

    /// The DA1 query, which every terminal answers.
    static let barrier = Array("\u{1B}[c".utf8)

    /// All queries, for one write.
    package static let questions =
        TerminalVersion.query
        + Array(
            "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}]1337;ReportCellSize\u{07}\u{1B}[16t\u{1B}[14t\u{1B}]11;?\u{1B}\\"
                .utf8)
        + barrier

    /// The queries under tmux: DA1 to tmux itself, then all to the terminal around it.
    package static let questionsInTmux = barrier + TmuxPassthrough.envelope(questions)

    /// Whether a sequence is the answer to DA1.
    static func isBarrier(_ answer: [UInt8]) -> Bool {
        answer.count > 3 && answer.starts(with: Array("\u{1B}[?".utf8)) && answer.last == UInt8(ascii: "c")
    }

    /// Takes one complete answer. Ignores other sequences, and all after the last answer.
    package mutating func take(_ answer: [UInt8]) {
        if isComplete { return }
        let text = String(decoding: answer, as: UTF8.self)
        func body(between start: String, and end: String) -> Substring? {
            text.hasPrefix(start) && text.hasSuffix(end) && text.count >= start.count + end.count
                ? text.dropFirst(start.count).dropLast(end.count) : nil
        }
        func size(_ numbers: Substring?, sides: ClosedRange<Int>, times scale: Double = 1) -> ImageSize? {
            let sizes = numbers?.split(separator: ";").map { (Double($0) ?? 0) * scale } ?? []
            guard sizes.count >= 2,
                sizes[..<2].allSatisfy({ Double(sides.lowerBound)...Double(sides.upperBound) ~= $0 })
            else { return nil }
            return ImageSize(width: Int(sizes[1]), height: Int(sizes[0]))
        }
        if let name = TerminalVersion.name(in: answer) {
            self.name = name
            version = TerminalVersion.numbers(in: answer)
        } else if body(between: "\u{1B}_Gi=31;", and: "\u{1B}\\") == "OK" {
            supportsKitty = true
        } else if text.hasPrefix(Self.backgroundStart) {
            background = Self.colour(text.dropFirst(Self.backgroundStart.count))
        } else if let report = Self.cellReport(text) {
            supportsITerm2 = true
            let scale = report.split(separator: ";").dropFirst(2).first.flatMap { Double($0) } ?? 1
            scaledCell = size(report, sides: Self.cellSides, times: scale)
        } else if let numbers = body(between: "\u{1B}[6;", and: "t") {
            reportedCell = size(numbers, sides: Self.cellSides)
        } else if let numbers = body(between: "\u{1B}[4;", and: "t") {
            reportedWindow = size(numbers, sides: Self.windowSides)
        } else if Self.isBarrier(answer), let attributes = body(between: "\u{1B}[?", and: "c") {
            end(showingSixel: attributes.split(separator: ";").dropFirst().contains("4"))
        }
    }

    private mutating func end(showingSixel: Bool) {
        if isInTmux, tmuxSupportsSixel == nil {
            // Discard the answers so far: they were tmux's.
            self = TerminalAnswers(isInTmux: true)
            tmuxSupportsSixel = showingSixel
        } else {
            supportsSixel = showingSixel
            isComplete = true
        }
    }

    private static let backgroundStart = "\u{1B}]11;rgb:"

    /// A colour such as `ffff/ffff/e5e5`, with one to four digits a channel.
    private static func colour(_ colour: Substring) -> SIMD3<UInt8>? {
        let channels = colour.prefix { $0.isHexDigit || $0 == "/" }.split(separator: "/").compactMap { text in
            Int(text, radix: 16).map { number in
                let most = (1 << (4 * min(4, text.count))) - 1
                return UInt8(min(number, most) * 255 / most)
            }
        }
        return channels.count == 3 ? SIMD3(channels[0], channels[1], channels[2]) : nil
    }

    /// The numbers of `ReportCellSize`, which ends with BEL or ST.
    private static func cellReport(_ text: String) -> Substring? {
        let start = "\u{1B}]1337;ReportCellSize="
        guard text.hasPrefix(start) else { return nil }
        return text.dropFirst(start.count).prefix { $0 != "\u{07}" && $0 != "\u{1B}" }
    }

    /// The plausible width and height of a cell, in pixels.
    private static let cellSides = 2...200
    /// The plausible width and height of a window, in pixels.
    private static let windowSides = 20...32_000

    /// The size of a cell in pixels, if the terminal told it or the size of its window.
    package func cell(in window: CellSize) -> ImageSize? {
        if let cell { return cell }
        guard let pixels = self.window, window.columns > 0, window.rows > 0 else { return nil }
        // The window's size may include borders: divide and round down.
        let cell = ImageSize(width: pixels.width / window.columns, height: pixels.height / window.rows)
        return Self.cellSides.contains(cell.width) && Self.cellSides.contains(cell.height) ? cell : nil
    }

    /// The best graphics mode; nil if the terminal shows no pixels, or has not answered.
    package var graphics: GraphicsMode? {
        if isInTmux { return graphicsInTmux }
        // iTerm2 and WezTerm support their own protocol best. Konsole 22.12 answers OK to kitty's query, but shows
        // nothing.
        if let name, ["iTerm2", "WezTerm", "Konsole"].contains(name) { return .iterm2 }
        if supportsKitty { return .kitty }
        return supportsITerm2 ? .iterm2 : supportsSixel ? .sixel : nil
    }

    /// Kitty's by placeholders, which not all terminals that answer OK support; sixels if both tmux and the terminal
    /// around it support them, because tmux claims them for itself.
    private var graphicsInTmux: GraphicsMode? {
        if supportsKitty, hasPlaceholders { return .kitty }
        return supportsSixel && tmuxSupportsSixel == true ? .sixel : nil
    }

    /// Whether the terminal keeps sixels and iTerm2's pictures below text until they are deleted.
    package var keepsPictures: Bool { name == "Konsole" && !isInTmux }

    /// Whether the terminal supports kitty's Unicode placeholders: kitty from 0.28, and Ghostty.
    package var hasPlaceholders: Bool {
        if name == "kitty" { return !version.lexicographicallyPrecedes([0, 28]) }
        return name == "ghostty"
    }

    /// Whether the terminal is known to show 24-bit colours. False under tmux, which may not pass them through.
    package var showsTrueColour: Bool {
        !isInTmux && name.map(TerminalVersion.showsTrueColour) ?? false
    }
}

/// Separates a terminal's answers from the keys that the user types meanwhile.
struct AnswerSorter {
    private(set) var answers: TerminalAnswers
    /// The number of answers to DA1.
    private(set) var barriers = 0
    /// The bytes of keys, mouse reports and pastes, as read.
    private(set) var keys: [UInt8] = []
    /// The size of a terminal's input queue: more is not typed by a person.
    private static let keyLimit = 4095
    private var parser = InputParser()

    init(isInTmux: Bool = false) {
        answers = TerminalAnswers(isInTmux: isInTmux)
    }

    mutating func take(_ bytes: [UInt8]) {
        for byte in bytes {
            for event in parser.feed(CollectionOfOne(byte)) {
                switch event {
                case .answer(let answer):
                    if TerminalAnswers.isBarrier(answer) { barriers += 1 }
                    answers.take(answer)
                case .key(TerminalKey(.escape)) where byte == 0x1B: keep([byte])
                // The end of a string that was over already, or whose start was lost. Nobody types it.
                case .key where parser.raw == [0x1B, UInt8(ascii: "\\")]: break
                case .key, .paste: keep(parser.raw)
                default: break
                }
            }
        }
    }

    private mutating func keep(_ bytes: [UInt8]) {
        if keys.count + bytes.count <= Self.keyLimit { keys += bytes }
    }

    /// Ends the input: a pending `ESC` is a key.
    mutating func end() {
        if !parser.resolve().isEmpty { keep(parser.raw) }
    }
}

/// The name and version of a terminal, from XTVERSION.
public enum TerminalVersion {
    /// The query. Terminals without XTVERSION do not answer.
    public static let query = Array("\u{1B}[>0q".utf8)

    /// The query with DA1 after it, which marks the last answer.
    package static let question = query + TerminalAnswers.barrier

    /// The name in an answer such as `ESC P > | XTerm(379) ESC \`; nil for another answer.
    public static func name(in answer: [UInt8]) -> String? {
        let prefix = Array("\u{1B}P>|".utf8)
        guard answer.starts(with: prefix) else { return nil }
        let text = answer.dropFirst(prefix.count).prefix {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "(") && $0 != 0x20
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The version numbers in an answer, `[379]` in the one above; empty if there are none.
    static func numbers(in answer: [UInt8]) -> [Int] {
        let text = answer.drop { $0 != UInt8(ascii: "(") && $0 != 0x20 }.dropFirst()
        let digits = text.prefix { ($0 >= 0x30 && $0 < 0x3A) || $0 == UInt8(ascii: ".") }
        return String(decoding: digits, as: UTF8.self).split(separator: ".").compactMap { Int($0) }
    }

    /// Whether a terminal with this name shows 24-bit colours, whatever TERM says: xterm from 331, and newer terminals.
    /// Not tmux, which depends on the terminal around it.
    public static func showsTrueColour(_ name: String) -> Bool {
        ["XTerm", "kitty", "ghostty", "foot", "WezTerm", "iTerm2", "Konsole", "mlterm", "contour"].contains(
            name)
    }
}
