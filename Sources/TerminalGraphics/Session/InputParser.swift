/// Parses a terminal's bytes into events. A pure value that keeps incomplete sequences, so the input may be split
/// anywhere.
///
///     6A                    the key j
///     1B 5B 35 7E           ESC [ 5 ~            Page Up
///     1B 5B 3C 36 35 ...    ESC [ < 65;10;3 M    the wheel, down, column 10, line 3
///     1B                    Escape, or the beginning of one of the above
///
/// Only time can decide the last case: while ``isAmbiguous``, the caller waits a moment (about 25 ms; longer over a
/// slow line) and calls ``resolve()`` if no more bytes come. Likewise for a truncated sequence: while ``isUnfinished``,
/// after a longer silence, it calls ``abandon()``, so that later keys are not taken for parts of the sequence.
///
/// 8-bit control characters (ECMA-48 5.3) begin and end sequences too, as single bytes and in UTF-8:
///
///     9B 3F 36 32 63         CSI ? 62 c          as ESC [ ? 62 c
///     C2 90 ... C2 9C        DCS ... ST          as ESC P ... ESC \
public struct InputParser: Sendable {
    /// The most bytes of a sequence; no answer to our queries is longer.
    private static let longestSequence = 4096
    /// The most bytes of a paste; the rest is dropped.
    private static let longestPaste = 1 << 16

    private enum State {
        case ground
        /// `ESC`.
        case escape
        /// `ESC [`, then parameters (ECMA-48 5.4).
        case control
        /// `ESC O`, before its final byte.
        case ss3
        /// `ESC [ M`, before its last three bytes: a mouse report without SGR mode (X10).
        case x10Mouse
        /// OSC, DCS, APC, PM or SOS, up to ST or BEL.
        case string
        /// Between `ESC [ 200 ~` and `ESC [ 201 ~`.
        case paste
    }

    private var state = State.ground
    /// The sequence so far, or the paste.
    private var pending: [UInt8] = []
    /// An incomplete UTF-8 character.
    private var character: [UInt8] = []
    private var missing = 0
    /// Whether `ESC` came before the character.
    private var isAlt = false
    private var events: [TerminalEvent] = []
    /// Whether the string began with an 8-bit control, so that an 8-bit ST can end it. Otherwise 0x9C may be part of a
    /// character.
    private var isEightBit = false
    /// The bytes of the current key or sequence as read, or of the last one until another begins.
    private(set) var raw: [UInt8] = []

    /// Creates a parser at the start of the input.
    public init() {}

    /// Whether the bytes so far may be a complete key or the beginning of more.
    public var isAmbiguous: Bool {
        switch state {
        case .escape, .ss3: true
        case .control, .string: pending.count == 2
        case .ground, .x10Mouse, .paste: false
        }
    }

    /// Whether a sequence, a paste or a character is incomplete.
    public var isUnfinished: Bool { state != .ground || missing > 0 }

    /// Parses bytes and returns the completed events.
    public mutating func feed(_ bytes: some Sequence<UInt8>) -> [TerminalEvent] {
        for byte in bytes { take(byte) }
        return takeEvents()
    }

    /// Resolves an ambiguity after a pause: a lone `ESC` is the Escape key, `ESC [` is Alt with a bracket.
    public mutating func resolve() -> [TerminalEvent] {
        guard isAmbiguous else { return [] }
        if state == .escape {
            press(.escape)
        } else if let last = pending.last {
            press(.character(Character(Unicode.Scalar(last))), .alt)
        }
        state = .ground
        return takeEvents()
    }

    /// Drops a truncated sequence. A truncated paste ends here instead.
    public mutating func abandon() -> [TerminalEvent] {
        if isAmbiguous { return resolve() }
        if state == .paste {
            events.append(.paste(String(decoding: pending.prefix(Self.longestPaste), as: UTF8.self)))
        }
        state = .ground
        missing = 0
        isAlt = false
        return takeEvents()
    }

    private mutating func takeEvents() -> [TerminalEvent] {
        defer { events = [] }
        return events
    }

    private mutating func press(_ code: TerminalKey.Code, _ modifiers: TerminalKey.Modifiers = []) {
        events.append(.key(TerminalKey(code, modifiers)))
    }

    private mutating func take(_ byte: UInt8) {
        if !isUnfinished { raw = [] }
        if raw.count < Self.longestPaste + Self.longestSequence { raw.append(byte) }
        switch state {
        case .ground: takeText(byte)
        case .escape: takeEscape(byte)
        case .control: takeControl(byte)
        case .ss3:
            state = .ground
            if let key = SequenceDecoder.ss3Key(byte) { press(key) }
        case .x10Mouse:
            pending.append(byte)
            if pending.count == 6 { finish(SequenceDecoder.x10Mouse(pending)) }
        case .string: takeString(byte)
        case .paste: takePaste(byte)
        }
    }

    private mutating func takeText(_ byte: UInt8) {
        if missing > 0, byte & 0xC0 == 0x80 {
            character.append(byte)
            missing -= 1
            if missing == 0 { finishCharacter() }
            return
        }
        // A truncated character was damaged on the way: drop its bytes.
        if missing > 0 { raw = [byte] }
        missing = 0
        let alt: TerminalKey.Modifiers = isAlt ? .alt : []
        isAlt = false
        switch byte {
        case 0x1B: state = .escape
        case 0x0D, 0x0A: press(.enter, alt)
        case 0x09: press(.tab, alt)
        case 0x08, 0x7F: press(.backspace, alt)
        case 0x00: press(.character(" "), alt.union(.control))
        case ..<0x1B: press(.character(Self.letter(byte | 0x60)), alt.union(.control))
        case ..<0x20: press(.character(Self.letter(byte | 0x40)), alt.union(.control))
        case ..<0x80: press(.character(Self.letter(byte)), alt)
        case 0xC2...0xF4:
            character = [byte]
            missing = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3
            isAlt = !alt.isEmpty
        case 0x80..<0xA0: takeEightBit(byte, isSingle: true)
        default: break
        }
    }

    /// Handles an 8-bit control as `ESC` with its 7-bit form. Ignores those that begin no sequence.
    private mutating func takeEightBit(_ byte: UInt8, isSingle: Bool) {
        let short = byte - 0x40
        guard "[]P_^XO".utf8.contains(short) else { return }
        takeEscape(short)
        isEightBit = isSingle
    }

    private static func letter(_ byte: UInt8) -> Character { Character(Unicode.Scalar(byte)) }

    private mutating func finishCharacter() {
        if character.count == 2, character[0] == 0xC2, character[1] < 0xA0 {
            takeEightBit(character[1], isSingle: false)
        } else if let text = String(validating: character, as: UTF8.self), let typed = text.first {
            press(.character(typed), isAlt ? .alt : [])
        }
        isAlt = false
    }

    private mutating func takeEscape(_ byte: UInt8) {
        pending = [0x1B, byte]
        isEightBit = false
        switch byte {
        case UInt8(ascii: "["): state = .control
        case UInt8(ascii: "O"): state = .ss3
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
            state = .string
        case 0x1B:
            press(.escape)
            raw = [byte]
        default:
            state = .ground
            isAlt = true
            takeText(byte)
        }
    }

    private mutating func takeControl(_ byte: UInt8) {
        switch byte {
        case 0x1B:
            state = .escape
            raw = [byte]
        case 0x20..<0x40:
            if pending.count <= Self.longestSequence { pending.append(byte) }
        case UInt8(ascii: "M") where pending.count == 2:
            pending.append(byte)
            state = .x10Mouse
        case UInt8(ascii: "[") where pending.count == 2:
            // F1 to F5 of the Linux console: ESC [ [ A.
            pending.append(byte)
        case 0x40..<0x7F:
            let isTooLong = pending.count > Self.longestSequence
            pending.append(byte)
            finish(isTooLong ? .nothing : SequenceDecoder.control(pending))
        default:
            // A control character aborts the sequence and is handled itself.
            breakOff(at: byte)
        }
    }

    private mutating func finish(_ meaning: SequenceDecoder.Meaning) {
        state = .ground
        switch meaning {
        case .event(let event): events.append(event)
        case .pasteBegins:
            state = .paste
            pending = []
        case .nothing: break
        }
    }

    private mutating func takeString(_ byte: UInt8) {
        let isTerminated = byte == 0x07 || (byte == UInt8(ascii: "\\") && pending.last == 0x1B)
        let isEightBitST = byte == 0x9C && (isEightBit || pending.last == 0xC2)
        if isTerminated || isEightBitST {
            if isEightBitST {
                if pending.last == 0xC2 { pending.removeLast() }
                pending += [0x1B, UInt8(ascii: "\\")]
            } else {
                pending.append(byte)
            }
            finish(pending.count > Self.longestSequence ? .nothing : .event(.answer(pending)))
        } else if pending.last == 0x1B, pending.count > 2 {
            // An ESC always ends the string, and begins another sequence.
            state = .escape
            raw = [0x1B]
            take(byte)
        } else if byte == 0x03 || byte == 0x18 || byte == 0x1A {
            // Keys that abort a sequence (Ctrl-C, CAN, SUB) must reach the program.
            breakOff(at: byte)
        } else if pending.count <= Self.longestSequence || byte == 0x1B {
            pending.append(byte)
        } else if pending.last == 0xC2 {
            pending.removeLast()
        } else if byte == 0xC2 {
            // This may be the first byte of ST in UTF-8.
            pending.append(byte)
        }
    }

    private mutating func breakOff(at byte: UInt8) {
        state = .ground
        raw = [byte]
        takeText(byte)
    }

    private mutating func takePaste(_ byte: UInt8) {
        let end = Array("\u{1B}[201~".utf8)
        pending.append(byte)
        if byte == end.last, pending.suffix(end.count).elementsEqual(end) {
            let text = pending.dropLast(end.count).prefix(Self.longestPaste)
            events.append(.paste(String(decoding: text, as: UTF8.self)))
            state = .ground
        } else if pending.count > Self.longestPaste + end.count {
            // Drop the rest, but still look for the end.
            pending.remove(at: Self.longestPaste)
        }
    }
}

/// Decodes complete sequences: xterm's keys and mouse reports ("XTerm Control Sequences", sections "PC-Style Function
/// Keys" and "Mouse Tracking"), kitty's `u` keys, the Linux console's keys.
enum SequenceDecoder {
    enum Meaning {
        case event(TerminalEvent)
        case pasteBegins
        case nothing
    }

    /// Decodes a control sequence from `ESC [` to its final byte.
    static func control(_ sequence: [UInt8]) -> Meaning {
        guard let final = sequence.last else { return .nothing }
        let body = sequence.dropFirst(2).dropLast()
        if body.first == UInt8(ascii: "<") { return mouse(numbers(body.dropFirst()), final: final) }
        if body.first == UInt8(ascii: "[") { return linuxFunctionKey(final) }
        // Answers to DA and DECRQM, and reports of the cursor and the window.
        let isPrivate = body.first.map { (0x3C..<0x40).contains($0) } ?? false
        let parameters = numbers(body)
        if isPrivate || final == UInt8(ascii: "t") || final == UInt8(ascii: "n")
            || isCursorReport(parameters, final)
        {
            return .event(.answer(sequence))
        }
        if final == UInt8(ascii: "~") { return tilde(parameters) }
        if final == UInt8(ascii: "u") {
            return key(codepoint(parameters.first ?? 0), modifier(parameters, at: 1))
        }
        if final == UInt8(ascii: "Z") { return key(.tab, .shift) }
        return key(letterKey(final), modifier(parameters, at: 1))
    }

    /// `ESC O` and a letter (SS3): the keypad's application mode.
    fileprivate static func ss3Key(_ final: UInt8) -> TerminalKey.Code? {
        final == UInt8(ascii: "M") ? .enter : letterKey(final)
    }

    /// `ESC [ M` and three bytes: button, column and row, each plus 32.
    fileprivate static func x10Mouse(_ sequence: [UInt8]) -> Meaning {
        let values = sequence.suffix(3).map { Int($0) - 32 }
        return mouse(values, final: UInt8(ascii: values.first == 3 ? "m" : "M"))
    }

    private static func key(_ code: TerminalKey.Code?, _ modifiers: TerminalKey.Modifiers) -> Meaning {
        code.map { .event(.key(TerminalKey($0, modifiers))) } ?? .nothing
    }

    /// `ESC [ row ; column R`. F3 with a modifier looks the same, but its first number is 1.
    private static func isCursorReport(_ parameters: [Int], _ final: UInt8) -> Bool {
        final == UInt8(ascii: "R") && parameters.count == 2 && parameters[0] != 1
    }

    private static func letterKey(_ final: UInt8) -> TerminalKey.Code? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(final - UInt8(ascii: "P")) + 1)
        default: nil
        }
    }

    private static func linuxFunctionKey(_ final: UInt8) -> Meaning {
        let isOne = (UInt8(ascii: "A")...UInt8(ascii: "E")).contains(final)
        return isOne ? key(.function(Int(final - UInt8(ascii: "A")) + 1), []) : .nothing
    }

    /// `ESC [ number ; modifier ~`.
    private static func tilde(_ parameters: [Int]) -> Meaning {
        let number = parameters.first ?? 0
        if number == 200 { return .pasteBegins }
        if number == 27, parameters.count == 3 {
            return key(codepoint(parameters[2]), modifier(parameters, at: 1))
        }
        let code: TerminalKey.Code? =
            switch number {
            case 1, 7: .home
            case 2: .insert
            case 3: .delete
            case 4, 8: .end
            case 5: .pageUp
            case 6: .pageDown
            case 11...15: .function(number - 10)
            case 17...21: .function(number - 11)
            case 23, 24: .function(number - 12)
            default: nil
            }
        return key(code, modifier(parameters, at: 1))
    }

    /// The key that types a scalar.
    private static func codepoint(_ number: Int) -> TerminalKey.Code? {
        switch number {
        case 9: return .tab
        case 13: return .enter
        case 27: return .escape
        case 127: return .backspace
        default:
            // Kitty's numbers in the private use area are keys that type nothing.
            guard number >= 32, !(0xE000..<0xF900).contains(number), let value = UInt32(exactly: number),
                let scalar = Unicode.Scalar(value)
            else { return nil }
            return .character(Character(scalar))
        }
    }

    /// xterm's modifier parameter: 1 plus a bit for each of Shift, Alt and Control.
    private static func modifier(_ parameters: [Int], at index: Int) -> TerminalKey.Modifiers {
        guard parameters.count > index, parameters[index] > 1 else { return [] }
        return TerminalKey.Modifiers(rawValue: UInt8(truncatingIfNeeded: parameters[index] - 1) & 7)
    }

    /// Button, column and row, from 1; final byte `m` when the button is released.
    private static func mouse(_ numbers: [Int], final: UInt8) -> Meaning {
        guard numbers.count == 3, final == UInt8(ascii: "M") else { return .nothing }
        let position = CellPosition(column: max(0, numbers[1] - 1), row: max(0, numbers[2] - 1))
        // 4, 8 and 16 are Shift, Alt and Control; 32 is motion; 64 is the wheel.
        switch numbers[0] & ~(4 | 8 | 16) {
        case 0: return .event(.click(at: position))
        case 64: return .event(.wheel(.up, at: position))
        case 65: return .event(.wheel(.down, at: position))
        default: return .nothing
        }
    }

    /// Decimal numbers between semicolons, without subparameters after colons.
    private static func numbers(_ body: ArraySlice<UInt8>) -> [Int] {
        body.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { part in
            let digits = part.prefix { $0 != UInt8(ascii: ":") }
            return Int(String(decoding: digits, as: UTF8.self)) ?? 0
        }
    }
}

/// An event from the terminal.
public enum TerminalEvent: Sendable, Hashable {
    /// A key was pressed.
    case key(TerminalKey)
    /// The wheel turned one notch, up towards the beginning or down.
    case wheel(WheelDirection, at: CellPosition)
    /// The first mouse button was pressed on a cell.
    case click(at: CellPosition)
    /// Text was pasted, unfiltered: make it visible before showing it.
    case paste(String)
    /// A complete answer to a query, from `ESC` to its end. Ignore unexpected ones.
    case answer([UInt8])
    /// The window changed its size.
    case resized
    /// SIGTSTP asks the process to stop.
    case stopRequested
    /// The process continues after a stop (SIGCONT); the screen's content is unknown.
    case continued
    /// The terminal is gone.
    case closed

    /// The direction of the wheel.
    public enum WheelDirection: Sendable, Hashable {
        case up, down
    }
}

/// A key with its modifiers.
public struct TerminalKey: Sendable, Hashable {
    /// The key; letters as typed, so that Shift shows in the letter.
    public let code: Code
    /// The modifiers, as far as the terminal tells.
    public let modifiers: Modifiers

    /// Creates a key, by default without modifiers.
    public init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// The keys that terminals report.
    public enum Code: Sendable, Hashable {
        case character(Character)
        case up, down, left, right
        case home, end, pageUp, pageDown
        case enter, escape, tab, backspace, delete, insert
        /// A function key, from F1.
        case function(Int)
    }

    /// Modifier keys.
    public struct Modifiers: OptionSet, Sendable, Hashable {
        /// One bit per modifier: xterm's parameter minus 1.
        public let rawValue: UInt8

        /// Modifiers from their bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Shift, if it does not show in the character.
        public static let shift = Modifiers(rawValue: 1)
        /// Alt, which terminals also send as `ESC` before the key.
        public static let alt = Modifiers(rawValue: 2)
        /// Control.
        public static let control = Modifiers(rawValue: 4)
    }
}
