import Films
import FoundationEssentials
import LazyImages
import SystemSupport
import TerminalGraphics

/// Writes data to standard output and messages to standard error. Every text passes through `TerminalText`, so nothing
/// from outside can steer the terminal. If the reader closes the pipe, the program ends silently.
struct Output: Sendable {
    let isQuiet: Bool
    let isVerbose: Bool
    /// The progress of the work. Shown only on a terminal, and not with --quiet.
    private(set) var progress: ProgressLine
    private let buffer: OutputBuffer
    /// Messages held back; nil if messages are written at once.
    private var held: HeldMessages?

    init(isQuiet: Bool = false, isVerbose: Bool = false) {
        self.isQuiet = isQuiet
        self.isVerbose = isVerbose
        progress = ProgressLine(isWanted: !isQuiet && Terminal.showsProgress)
        buffer = OutputBuffer(above: progress)
    }

    /// The output of a program that uses the whole screen. Messages to that terminal wait for `releaseMessages`, and
    /// progress is read from `progress`.
    func besideScreen() -> Output {
        var output = self
        output.progress = ProgressLine(isWanted: true, isDrawn: false)
        output.held = isatty(STDERR_FILENO) == 1 ? HeldMessages() : nil
        return output
    }

    /// Writes the messages that were held back.
    func releaseMessages() {
        for message in held?.take() ?? [] { write(message: message) }
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// One line of data, for people.
    func line(_ text: String) { buffer.append(TerminalText.visible(text) + "\n") }

    /// A picture, or a part of a screen, with its colours.
    func picture(_ picture: InlinePicture) {
        let encoder = InlineEncoder(depth: picture.depth)
        let lines =
            picture.movesCursor
            ? encoder.lines(of: picture.cells, under: picture.drawing)
            : picture.drawing + encoder.lines(of: picture.cells)
        buffer.append(String(decoding: lines, as: UTF8.self))
    }

    /// One line of data for programs that split at tabs. A tab within a field becomes visible text, never a separator.
    func line(fields: [String]) {
        buffer.append(fields.map { TerminalText.visible($0) }.joined(separator: "\t") + "\n")
    }

    /// A value for programs, as JSON on one line.
    func json(_ value: some Encodable) { buffer.append(Self.json(value) + "\n") }

    /// A JSON value, on one line.
    func json(_ value: JSONText) {
        buffer.append(
            TerminalText.sanitized(
                json: value.text, onlyASCII: Terminal.showsOnlyASCII(STDOUT_FILENO)) + "\n")
    }

    /// Bytes for another program, unchanged.
    func bytes(_ bytes: ImageBytes) {
        flush()
        Self.write(bytes.array, to: STDOUT_FILENO)
    }

    /// A body, byte for byte; on a terminal its text, if it is text.
    /// - Parameter type: the media type that the sender gave.
    /// - Returns: false if a terminal cannot show the body; then nothing was printed.
    func body(_ bytes: ImageBytes, type: String?) -> Bool {
        guard Self.isTerminal else {
            self.bytes(bytes)
            return true
        }
        guard let text = ReadableText.text(of: bytes.array, type: type) else { return false }
        self.text(text)
        return true
    }

    /// The note in place of a body that a terminal cannot show.
    func noteHiddenBody(_ bytes: ImageBytes) { line("(\(bytes.count) bytes, not shown on a terminal)") }

    /// Lines from outside, made safe for a terminal.
    func text(_ text: String) {
        buffer.append(TerminalText.visible(text, keepingNewlines: true))
        if !text.hasSuffix("\n") { buffer.append("\n") }
    }

    /// An answer's status line, header and body, as HTTP writes them. A terminal shows only the body's length.
    func answer(_ head: ResponseHead, _ body: ImageBytes) {
        var text = "HTTP/1.1 \(head.status) \(HTTPStatus(rawValue: head.status).reason)\r\n"
        for field in head.fields.fields {
            text += TerminalText.visible("\(field.name): \(field.value)") + "\r\n"
        }
        buffer.append(text + "\r\n")
        flush()
        if Self.isTerminal {
            noteHiddenBody(body)
        } else {
            bytes(body)
        }
    }

    /// Several values for programs, as one JSON array with one value on each line.
    /// - Parameter value: makes the value with this number, from 0; called on several threads at once.
    func jsonArray(count: Int, _ value: @Sendable (Int) -> some Encodable) {
        guard count > 0 else { return buffer.append("[]\n") }
        let pieces = (count + Self.valuesAPiece - 1) / Self.valuesAPiece
        var separator = "[\n"
        Parallel.forEach(pieces, atATime: Self.piecesAtATime) { piece in
            let first = piece * Self.valuesAPiece
            let encoder = Self.encoder()
            return (first..<min(count, first + Self.valuesAPiece)).map { Self.json(value($0), encoder) }
                .joined(separator: ",\n")
        } body: { text in
            buffer.append(separator + text)
            separator = ",\n"
        }
        buffer.append("\n]\n")
    }

    /// How a long array is divided among the processors.
    private static let (valuesAPiece, piecesAtATime) = (256, 16)

    /// Writes everything so far.
    func flush() { buffer.flush() }

    /// Lets `print` write. If that is longer than the terminal, the user's pager shows it.
    func paged(isWanted: Bool, _ interruption: Interruption, _ print: () -> Void) {
        guard isWanted, Self.isTerminal, let rows = Terminal.size?.cells.rows else { return print() }
        let text = buffer.collecting(print)
        // The prompt takes a line too.
        let isLong = text.utf8.count { $0 == UInt8(ascii: "\n") } >= rows
        if !isLong || !Pager.show(text, interruption) { buffer.append(text) }
    }

    /// A message that --quiet leaves out.
    func notice(_ text: String) {
        if !isQuiet { error("marquee: " + text) }
    }

    private static let told = Lock(Set<String>())

    /// The same, once in a run: a service reads its source again and again.
    func noticeOnce(_ text: String) {
        if Self.told.withLock({ $0.insert(text).inserted }) { notice(text) }
    }

    /// A message that only --verbose prints.
    func detail(_ text: String) {
        if isVerbose { error("marquee: " + text) }
    }

    /// An error and its remedy, on one line.
    func failure(_ text: String) { error("marquee: " + text) }

    /// The error that ends a command.
    func failure(_ error: any Error) {
        guard let lines = (error as? Failure)?.lines else { return failure(ImageLoadingError.advised(error)) }
        failure(lines[0])
        for line in lines.dropFirst() { self.error(line) }
    }

    /// A question that the person answers on the same line.
    func question(_ text: String) {
        flush()
        Self.write(TerminalText.visible(text), to: STDERR_FILENO)
    }

    private func error(_ text: String) {
        if let held { held.keep(text) } else { write(message: text) }
    }

    private func write(message text: String) {
        flush()
        progress.hidden { Self.write(TerminalText.visible(text) + "\n", to: STDERR_FILENO) }
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    private static func json(_ value: some Encodable, _ encoder: JSONEncoder = encoder()) -> String {
        // Ignored: our own values are strings and finite numbers, which can always be encoded.
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        return TerminalText.sanitized(
            json: String(decoding: data, as: UTF8.self), onlyASCII: Terminal.showsOnlyASCII(STDOUT_FILENO))
    }

    /// Writes the whole text. A closed pipe on standard output ends the program silently: the reader has what it
    /// wanted. Any other error of standard output ends it with a message. An error of standard error is ignored, and
    /// the work goes on.
    static func write(_ text: String, to descriptor: Int32) {
        let shown = Terminal.showsOnlyASCII(descriptor) ? TerminalText.ascii(text) : text
        write(Array(shown.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        if descriptor == STDOUT_FILENO, StandardStreams.isOutputClosed { endWithoutReader(EBADF) }
        do {
            // Waits for room if the reader has made the pipe non-blocking.
            try FileCalls().write(bytes, toStream: descriptor)
        } catch {
            if descriptor == STDOUT_FILENO { endWithoutReader(error.code) }
        }
    }

    /// Not `exit`: it destroys objects that other threads still use.
    private static func endWithoutReader(_ code: Int32) -> Never {
        if code == EPIPE { _exit(ExitStatus.done.code) }
        let reason = code == EBADF ? "it is closed; write to a file or to /dev/null" : SystemError.text(code)
        write("marquee: standard output cannot be written: \(reason)\n", to: STDERR_FILENO)
        _exit(ExitStatus.someFailed.code)
    }
}

/// The three streams that a program starts with.
enum StandardStreams {
    /// Whether the program was started with standard output closed. The first look puts `/dev/null` in the place of each
    /// closed stream: else the next opened file would get its number, and what is printed would go into that file.
    static let isOutputClosed: Bool = {
        var isClosed = false
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            if number == STDOUT_FILENO { isClosed = true }
            // The lowest free number is this one.
            _ = unsafe open("/dev/null", O_RDWR)
        }
        return isClosed
    }()
}

/// Messages held back while the screen is in use. Each is kept once.
private final class HeldMessages: Sendable {
    /// The most messages; nobody reads more.
    private static let limit = 1000
    private let messages = Lock<[String]>([])

    func keep(_ text: String) {
        messages.withLock { messages in
            if messages.count < Self.limit, !messages.contains(text) { messages.append(text) }
        }
    }

    func take() -> [String] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}

/// Collects output, so that a long list is not written line by line.
private final class OutputBuffer: Sendable {
    private static let size = 32 * 1024
    private struct State {
        var text = ""
        /// Whether nothing is written yet, because the output may go to a pager.
        var isHeld = false

        mutating func take() -> String {
            defer { text = "" }
            return text
        }
    }

    private let state = Lock(State())
    private let progress: ProgressLine

    init(above progress: ProgressLine) { self.progress = progress }

    /// The text that `body` appends, which is not written.
    fileprivate func collecting(_ body: () -> Void) -> String {
        flush()
        state.withLock { $0.isHeld = true }
        body()
        return state.withLock { state in
            state.isHeld = false
            return state.take()
        }
    }

    func append(_ more: String) {
        let full: String? = state.withLock { state in
            state.text += more
            return state.text.utf8.count >= Self.size && !state.isHeld ? state.take() : nil
        }
        if let full { write(full) }
    }

    func flush() {
        let rest = state.withLock { $0.isHeld ? "" : $0.take() }
        if !rest.isEmpty { write(rest) }
    }

    private func write(_ text: String) {
        if Output.isTerminal {
            progress.hidden { Output.write(text, to: STDOUT_FILENO) }
        } else {
            Output.write(text, to: STDOUT_FILENO)
        }
    }
}

/// The program's exit status, for the shell.
enum ExitStatus {
    case done
    case someFailed
    /// The command line is invalid, or nothing was done.
    case nothingDone
    /// A person has pressed Ctrl-C; or the program reports an interrupted run.
    case interrupted
    /// A service has ended in order, after it was told to.
    case stopped

    var code: Int32 {
        switch self {
        case .done, .stopped: 0
        case .someFailed: 1
        case .nothingDone: 2
        case .interrupted: 130
        }
    }
}

/// The user's program for text that is longer than the terminal: `$PAGER`, else `less` if there is one. A terminal that
/// moves no cursor (`TERM` is unset or `dumb`), such as an editor's, has none.
enum Pager {
    /// Shows text, and waits until the person leaves the pager. Meanwhile Ctrl-C belongs to it.
    /// - Returns: false if there is no pager; then nothing was shown.
    static func show(_ text: String, _ interruption: Interruption) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        let command = environment["PAGER"] ?? "less"
        let blank = command.allSatisfy { $0.isWhitespace }
        guard !blank, command != "cat", !["", "dumb"].contains(environment["TERM"] ?? ""),
            environment["PAGER"] != nil || isInstalled(command, environment)
        else { return false }
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        interruption.share()
        defer { interruption.unshare() }
        // As git does: less ends if all fits, shows colours, and leaves the text on the screen.
        let settings = ["LESS": "FRX", "LESSCHARSET": "utf-8"].merging(environment) { _, own in own }
        let process: TerminalProgram
        do throws(Failure) {
            // In a shell: the command may have quotes and options.
            process = try TerminalProgram(
                ["/bin/sh", "-c", command], input: ends[0], variables: settings.map { "\($0)=\($1)" })
        } catch {
            ends.forEach { close($0) }
            return false
        }
        close(ends[0])
        // Ignored: the pipe is closed when the person leaves the pager early.
        try? FileCalls().write(Array(text.utf8), toStream: ends[1])
        close(ends[1])
        // The shell's status where it finds no such program.
        return process.wait() != .exited(127)
    }

    /// Whether a program is in PATH.
    private static func isInstalled(_ program: String, _ environment: [String: String]) -> Bool {
        (environment["PATH"] ?? "").split(separator: ":").contains {
            unsafe access("\($0)/\(program)", X_OK) == 0
        }
    }
}

/// The program's terminal, as far as plain output needs it.
enum Terminal {
    /// The columns for output: those of standard output's terminal, else those that another program tells. Nil if
    /// nobody tells.
    static var columns: Int? { size?.cells.columns ?? told("COLUMNS") }

    /// The lines for output: likewise.
    static var lines: Int? { size?.cells.rows ?? told("LINES") }

    /// What fzf tells about its preview, else the variables of POSIX (section 8.3).
    private static func told(_ name: String) -> Int? {
        ["FZF_PREVIEW_" + name, name].compactMap { Int(ProcessInfo.processInfo.environment[$0] ?? "") }
            .first { $0 > 0 }.map { min($0, Settings.mostCells) }
    }

    /// The width of a descriptor's terminal in cells; nil if there is none, or it does not tell.
    static func width(of descriptor: Int32) -> Int? { TerminalSize(of: descriptor)?.cells.columns }

    /// The size of standard output's terminal; nil if there is none, or it does not tell.
    static var size: TerminalSize? { TerminalSize(of: STDOUT_FILENO) }

    /// The size of a cell in pixels, from the first of the three streams and `/dev/tty` whose terminal tells it.
    static var cell: ImageSize? {
        if let cell = [STDOUT_FILENO, STDERR_FILENO, STDIN_FILENO].lazy.compactMap({
            TerminalSize(of: $0)?.cell
        }).first {
            return cell
        }
        // Ignored: a program without a terminal has no such file.
        guard let file = try? FileCalls().openForReading(path: "/dev/tty") else { return nil }
        return TerminalSize(of: file.number)?.cell
    }

    /// The background to blend pictures with: what the terminal tells, else white or black.
    static func background(_ answers: TerminalAnswers) -> SIMD3<UInt8> {
        answers.background ?? SIMD3(repeating: isOnLight ? 255 : 0)
    }

    /// Whether tmux is between the program and the terminal.
    static let isInTmux = !(ProcessInfo.processInfo.environment["TMUX"] ?? "").isEmpty

    /// Whether `COLORFGBG`, as rxvt and Konsole set it, names a light background: `0;15`.
    static let isOnLight = {
        let colours = (ProcessInfo.processInfo.environment["COLORFGBG"] ?? "").split(separator: ";")
        return colours.count > 1 && ["7", "15"].contains(colours[colours.count - 1])
    }()

    /// Whether the terminal is Konsole, which sets a variable for its programs.
    static let isKonsole = ProcessInfo.processInfo.environment["KONSOLE_VERSION"] != nil

    /// Whether the terminal may be asked for its features: it is a person's, and not one that prints the questions or
    /// has no features.
    static var canBeAsked: Bool { isInteractive && !hasNoFeatures }

    /// Whether a person can use the terminal.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && isCapable }

    /// Whether the terminal's type is one without pictures and without 24-bit colours: the console of Linux, and those
    /// before the nineties.
    private static var hasNoFeatures: Bool {
        let type = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return ["linux", "ansi", "cons25", "sun", "vt52"].contains { type == $0 || type.hasPrefix($0 + "-") }
            || type.hasPrefix("vt1") || type.hasPrefix("vt2")
    }

    /// Whether the terminal's type is known, and can move the cursor.
    private static var isCapable: Bool {
        !["", "dumb"].contains(ProcessInfo.processInfo.environment["TERM"] ?? "")
    }

    /// How long to wait for its answers.
    static var answerLimit: Duration {
        (ProcessInfo.processInfo.environment["SSH_CONNECTION"] ?? "").isEmpty ? .seconds(1) : .seconds(3)
    }

    /// Whether a descriptor leads to a terminal that shows no UTF-8 according to the locale (`LC_ALL=C`). All other
    /// output is UTF-8 in any locale.
    static func showsOnlyASCII(_ descriptor: Int32) -> Bool { !localeHasUTF8 && isatty(descriptor) == 1 }

    private static let localeHasUTF8 = hasUTF8(ProcessInfo.processInfo.environment)

    /// Whether the locale's variables say UTF-8: the first that is not empty decides (POSIX, section 8.2). Without any,
    /// UTF-8 is assumed.
    static func hasUTF8(_ environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        guard let locale = names.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else {
            return true
        }
        let encoding = locale.lowercased()
        return encoding.contains("utf-8") || encoding.contains("utf8")
    }

    /// Whether the terminal is remote, over SSH; sshd sets a variable.
    static var isRemote: Bool { ProcessInfo.processInfo.environment["SSH_TTY"] != nil }

    /// Whether messages go to a person's terminal that can redraw a line.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 && isCapable }
}
