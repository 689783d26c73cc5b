import TerminalGraphics

extension VirtualScreen {
    /// The part of a sequence or character that has been read.
    struct ParserState: Sendable {
        enum Mode: Sendable {
            case ground, escape, charset
            /// `ESC [`, up to a byte from 40 to 7E.
            case control
            /// OSC, DCS, APC, PM: up to ST, or BEL for an OSC.
            case string
        }

        var mode = Mode.ground
        /// The introducer of a string: `]`, `P`, `_` or `^`.
        var introducer: UInt8 = 0
        var sequence: [UInt8] = []
        var character: [UInt8] = []
        var missing = 0
    }

    /// Parses output, split anywhere.
    public mutating func feed(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { take(byte) }
    }

    private mutating func take(_ byte: UInt8) {
        switch parser.mode {
        case .ground: takeText(byte)
        case .charset: parser.mode = .ground
        case .escape: takeEscape(byte)
        case .control:
            parser.sequence.append(byte)
            if (0x40...0x7E).contains(byte) {
                parser.mode = .ground
                runControl(String(decoding: parser.sequence, as: UTF8.self))
            }
        case .string:
            parser.sequence.append(byte)
            // In tmux's passthrough every ESC is doubled.
            let escapes = parser.sequence.dropLast().reversed().prefix { $0 == 0x1B }.count
            if byte == 0x07 || byte == UInt8(ascii: "\\") && escapes % 2 == 1 {
                parser.mode = .ground
                let content = parser.sequence.dropLast(byte == 0x07 ? 1 : 2)
                strings.append(String(decoding: content, as: UTF8.self))
                if cellPixels != nil { takePictures(in: Array(content), after: parser.introducer) }
            }
        }
    }

    private mutating func takeText(_ byte: UInt8) {
        if parser.missing > 0 {
            if byte & 0xC0 == 0x80 {
                parser.character.append(byte)
                parser.missing -= 1
                if parser.missing == 0 { putDecoded() }
                return
            }
            parser.missing = 0
            put("\u{FFFD}")
        }
        switch byte {
        case 0x1B: parser.mode = .escape
        case 0x0D:
            cursor.column = 0
            wrapsNext = false
        case 0x0A: lineFeed()
        case 0x08:
            cursor.column = max(0, cursor.column - 1)
            wrapsNext = false
        case 0x09: cursor.column = min(size.columns - 1, (cursor.column / 8 + 1) * 8)
        case 0x07: break
        case ..<0x20, 0x7F: unknown.append("control \(byte)")
        case ..<0x80: put(Unicode.Scalar(byte))
        case 0xC2...0xF4:
            parser.character = [byte]
            parser.missing = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3
        default: put("\u{FFFD}")
        }
    }

    private mutating func putDecoded() {
        for scalar in String(decoding: parser.character, as: UTF8.self).unicodeScalars {
            // A C1 control encoded in UTF-8 counts too.
            if (0x80..<0xA0).contains(scalar.value) {
                unknown.append("control \(scalar.value)")
            } else {
                put(scalar)
            }
        }
    }

    private mutating func takeEscape(_ byte: UInt8) {
        parser.mode = .ground
        parser.sequence = []
        switch byte {
        case UInt8(ascii: "["): parser.mode = .control
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"):
            parser.mode = .string
            parser.introducer = byte
        case UInt8(ascii: "("), UInt8(ascii: ")"): parser.mode = .charset
        case UInt8(ascii: "7"): savedCursor = cursor
        case UInt8(ascii: "8"): cursor = savedCursor
        case UInt8(ascii: "="), UInt8(ascii: ">"), UInt8(ascii: "\\"): break
        default: unknown.append("ESC \(Unicode.Scalar(byte))")
        }
    }

    /// A control sequence without its introducer, such as `?25l` or `3;12H`.
    private mutating func runControl(_ sequence: String) {
        let numbers = sequence.dropLast().split(separator: ";", omittingEmptySubsequences: false)
            .map { Int($0.drop { !$0.isNumber }) }
        let first = numbers.first.flatMap { $0 }
        let count = max(1, first ?? 1)
        if sequence.hasPrefix("?") || sequence.hasPrefix(">") || sequence.hasSuffix("$p") {
            return runPrivate(sequence, numbers: numbers.compactMap { $0 })
        }
        switch sequence.last {
        case "A": move(to: cursor.column, cursor.row - count)
        case "B": move(to: cursor.column, cursor.row + count)
        case "C": move(to: cursor.column + count, cursor.row)
        case "D": move(to: cursor.column - count, cursor.row)
        case "E": move(to: 0, cursor.row + count)
        case "F": move(to: 0, cursor.row - count)
        case "G": move(to: count - 1, cursor.row)
        case "d": move(to: cursor.column, count - 1)
        case "H", "f":
            let column = numbers.count > 1 ? max(1, numbers[1] ?? 1) : 1
            move(to: column - 1, count - 1)
        case "J", "K": runErase(lines: sequence.hasSuffix("K"), part: first ?? 0)
        case "X":
            let start = cursor.row * size.columns + cursor.column
            erase(start..<start + min(count, size.columns - cursor.column))
        case "b": for _ in 0..<count { for scalar in lastCharacter.unicodeScalars { put(scalar) } }
        case "m": runStyle(numbers.map { $0 ?? 0 })
        case "s": savedCursor = cursor
        case "u": cursor = savedCursor
        case "c", "n", "t": queries.append(sequence)
        default: unknown.append("CSI \(sequence)")
        }
    }

    private mutating func runPrivate(_ sequence: String, numbers: [Int]) {
        switch sequence.last {
        case "h" where sequence.hasPrefix("?"): for mode in numbers { setMode(mode, on: true) }
        case "l" where sequence.hasPrefix("?"): for mode in numbers { setMode(mode, on: false) }
        case "c", "q", "p", "n", "u": queries.append(sequence)
        default: unknown.append("CSI \(sequence)")
        }
    }

    mutating func move(to column: Int, _ row: Int) {
        cursor = CellPosition(
            column: min(max(0, column), size.columns - 1), row: min(max(0, row), size.rows - 1))
        wrapsNext = false
    }

    /// ED and EL: erase to the end, from the start, or all, of the screen or the line.
    private mutating func runErase(lines: Bool, part: Int) {
        let here = cursor.row * size.columns + cursor.column
        let start = lines ? cursor.row * size.columns : 0
        let end = lines ? (cursor.row + 1) * size.columns : size.columns * size.rows
        switch part {
        case 0: erase(here..<end)
        case 1: erase(start..<here + 1)
        case 2:
            erase(start..<end)
            if !lines { kitty.erase() }
        default: unknown.append("erase \(part)")
        }
    }

    private mutating func runStyle(_ numbers: [Int]) {
        var rest = numbers[...]
        while let number = rest.popFirst() {
            switch number {
            case 0: style = CellStyle()
            case 1: style.attributes.insert(.bold)
            case 2: style.attributes.insert(.dim)
            case 3: style.attributes.insert(.italic)
            case 4: style.attributes.insert(.underlined)
            case 7: style.attributes.insert(.reversed)
            case 22: style.attributes.subtract([.bold, .dim])
            case 23: style.attributes.remove(.italic)
            case 24: style.attributes.remove(.underlined)
            case 27: style.attributes.remove(.reversed)
            case 30...37: style.foreground = .palette(UInt8(number - 30))
            case 40...47: style.background = .palette(UInt8(number - 40))
            case 90...97: style.foreground = .palette(UInt8(number - 82))
            case 100...107: style.background = .palette(UInt8(number - 92))
            case 38: style.foreground = colour(&rest)
            case 48: style.background = colour(&rest)
            case 39: style.foreground = .standard
            case 49: style.background = .standard
            default: unknown.append("SGR \(number)")
            }
        }
    }

    private mutating func colour(_ rest: inout ArraySlice<Int>) -> CellColour {
        let kind = rest.popFirst()
        let channels = rest.prefix(kind == 2 ? 3 : 1).map { UInt8(clamping: $0) }
        rest = rest.dropFirst(channels.count)
        if kind == 5, channels.count == 1 { return .palette(channels[0]) }
        if kind == 2, channels.count == 3 { return .rgb(channels[0], channels[1], channels[2]) }
        unknown.append("SGR colour")
        return .standard
    }
}
