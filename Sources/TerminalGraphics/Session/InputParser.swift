/// Turns a terminal's bytes into events. A pure value that keeps what is not yet whole, so bytes may
/// come cut anywhere.
///
///     6A                    the key j
///     1B 5B 35 7E           ESC [ 5 ~            Page Up
///     1B 5B 3C 36 35 ...    ESC [ < 65;10;3 M    the wheel, down, column 10, line 3
///     1B                    Escape, or the beginning of one of the above
///
/// The last is for time to decide: while ``isAmbiguous``, the caller waits a moment (some 25 ms; more
/// over a slow line) and calls ``resolve()`` when nothing came. Likewise for a sequence that breaks off, while
/// ``isUnfinished`` and after a longer silence, ``abandon()``: or keys typed later would be taken for parts of it.
///
/// Control characters of 8 bits (ECMA-48 5.3) begin and end sequences as well, as single bytes and as UTF-8:
///
///     9B 3F 36 32 63         CSI ? 62 c          as ESC [ ? 62 c
///     C2 90 ... C2 9C        DCS ... ST          as ESC P ... ESC \
public struct InputParser: Sendable {
    /// Bytes of a sequence; longer ones are no answers to anything we ask.
    static let longestSequence = 4096
    /// Bytes of one paste; what goes beyond is left out.
    static let longestPaste = 1 << 16

    private enum State {
        case ground
        /// `ESC`.
        case escape
        /// `ESC [`, then parameters (ECMA-48 5.4).
        case control
        /// `ESC O`, one byte to come.
        case shiftThree
        /// `ESC [ M`, three bytes to come: a mouse report of a terminal without SGR reports.
        case oldMouse
        /// OSC, DCS, APC, PM or SOS, up to ST or BEL.
        case string
        /// Between `ESC [ 200 ~` and `ESC [ 201 ~`.
        case paste
    }

    private var state = State.ground
    /// The sequence so far, or the paste.
    private var pending: [UInt8] = []
    /// A character of which bytes are missing.
    private var character: [UInt8] = []
    private var missing = 0
    /// Whether `ESC` came before the character.
    private var isAlt = false
    private var events: [TerminalEvent] = []
    /// Whether the present string began with a byte of 8 bits, so that one of these may end it: elsewhere it may be a part of
    /// a character.
    private var isEightBit = false
    /// The bytes of the present key or sequence as they came; of the last one until another begins.
    private(set) var raw: [UInt8] = []

    /// A parser at the start of the input.
    public init() {}

    /// Whether what has come so far may be a key of its own or the beginning of more.
    public var isAmbiguous: Bool {
        switch state {
        case .escape, .shiftThree: true
        case .control, .string: pending.count == 2
        case .ground, .oldMouse, .paste: false
        }
    }

    /// Whether a sequence, a paste or a character has begun and not ended.
    public var isUnfinished: Bool { state != .ground || missing > 0 }

    /// Takes bytes and returns the events that are now whole.
    public mutating func feed(_ bytes: some Sequence<UInt8>) -> [TerminalEvent] {
        for byte in bytes { take(byte) }
        return takeEvents()
    }

    /// Settles what is ambiguous, because nothing followed it: a lone `ESC` is the Escape key, `ESC [`
    /// is Alt with a bracket.
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

    /// Gives up a sequence that broke off: it is dropped, but for a paste, which ends here.
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
        case .shiftThree:
            state = .ground
            if let key = SequenceDecoder.shiftThreeKey(byte) { press(key) }
        case .oldMouse:
            pending.append(byte)
            if pending.count == 6 { finish(SequenceDecoder.oldMouse(pending)) }
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
        // A character that breaks off was damaged on the way; nobody typed its beginning.
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

    /// A control character of 8 bits: the same as `ESC` and a character of 7. Only those that begin a sequence count.
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
        case UInt8(ascii: "O"): state = .shiftThree
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
            state = .oldMouse
        case UInt8(ascii: "[") where pending.count == 2:
            // The Linux console's F1 to F5: ESC [ [ A.
            pending.append(byte)
        case 0x40..<0x7F:
            let isTooLong = pending.count > Self.longestSequence
            pending.append(byte)
            finish(isTooLong ? .nothing : SequenceDecoder.control(pending))
        default:
            // A control character breaks the sequence off and counts itself.
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
            // An ESC that does not end the string ends it all the same; it begins something else.
            state = .escape
            raw = [0x1B]
            take(byte)
        } else if byte == 0x03 || byte == 0x18 || byte == 0x1A {
            // What breaks off any sequence must reach the program when its user is at a loss.
            breakOff(at: byte)
        } else if pending.count <= Self.longestSequence || byte == 0x1B {
            pending.append(byte)
        } else if pending.last == 0xC2 {
            pending.removeLast()
        } else if byte == 0xC2 {
            // It may be the first half of ST.
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
            // The rest is watched for the end only.
            pending.remove(at: Self.longestPaste)
        }
    }
}
