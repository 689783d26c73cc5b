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
    static func ss3Key(_ final: UInt8) -> TerminalKey.Code? {
        final == UInt8(ascii: "M") ? .enter : letterKey(final)
    }

    /// `ESC [ M` and three bytes: button, column and row, each plus 32.
    static func x10Mouse(_ sequence: [UInt8]) -> Meaning {
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
