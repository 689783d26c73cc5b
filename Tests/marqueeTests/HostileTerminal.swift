import SystemSupport

/// A terminal whose answers are late, truncated, repeated, wrong or malicious, while a user types.
struct HostileTerminal: CustomStringConvertible {
    /// The bytes that are sent at once.
    var sent: [UInt8] = []
    /// The last answers, if `sent` does not end with them: they come later, or never.
    var late: [UInt8] = []
    /// The keys that no broken sequence can swallow, in order.
    var keys: [UInt8] = []

    /// A mark in all garbage, which must not appear elsewhere.
    static let mark = "ZQX"

    private static let answers: [[UInt8]] = [
        "\u{1B}P>|kitty(0.41.1 \(mark))\u{1B}\\", "\u{1B}_Gi=31;OK\u{1B}\\",
        "\u{1B}]1337;ReportCellSize=17.0;8.0;1.0\u{07}", "\u{1B}[6;17;8t", "\u{1B}[4;408;640t",
    ].map { Array($0.utf8) }
    private static let barrier = Array("\u{1B}[?62;4c".utf8)

    /// Complete sequences that were not requested, or not in this form.
    private static let garbage: [[UInt8]] =
        [
            "\u{1B}]52;c;\(mark)\u{1B}\\", "\u{1B}[?2026;2$y", "\u{1B}[0n", "\u{1B}P1$r0m\u{1B}\\",
            "\u{1B}[9;999999999999999t",
            "\u{1B}[6;0;-1t", "\u{1B}]1337;ReportCellSize=nan;inf;\(mark)\u{07}",
            "\u{1B}_Gi=31;ENOENT:\(mark)\u{1B}\\",
            "\u{1B}P>|\(mark)\u{1B}]\(mark)\u{1B}_\(mark)\u{1B}\\", "\u{1B}^\(mark)\u{1B}\\",
            "\u{1B}X\(mark)\u{9C}\u{1B}\\",
            "\u{9B}?62;\(mark.count)n", "\u{90}>|\(mark)(1)\u{9C}",
            "\u{1B}]11;rgb:0000/0000/\(mark)✓é\u{1B}\\",
            "\u{1B}]0;" + String(repeating: mark, count: 1500) + "\u{1B}\\",
            "\u{1B}[?" + String(repeating: "1;", count: 2000) + "n",
        ].map { Array($0.utf8) } + [
            [0x9B, 0x3F, 0x31, 0x6E], [0x90] + Array("1$r\(mark)".utf8) + [0x9C],
            [0x9D] + Array("4;\(mark)".utf8) + [0x07],
        ]
    /// Sequences without an end, which the next sequence ends.
    private static let cuts: [[UInt8]] = [
        "\u{1B}P>|\(mark)", "\u{1B}P" + String(repeating: mark, count: 1500), "\u{1B}_Gi=31;O", "\u{1B}[6;17",
        "\u{1B}]1337;Rep", "\u{1B}[?6",
    ].map { Array($0.utf8) }

    init(_ seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var letters = Array("abcdefghijklmnop".utf8)[...]
        var isWhole = true
        func key() {
            guard isWhole, let letter = letters.popFirst() else { return }
            sent.append(letter)
            keys.append(letter)
        }
        let isSilent = numbers.below(8) == 0
        for answer in Self.answers where !isSilent {
            if numbers.below(3) == 0 { key() }
            switch numbers.below(8) {
            case 0: continue
            case 1:
                sent += Self.cuts[numbers.below(Self.cuts.count)]
                isWhole = false
            case 2:
                sent += Self.garbage[numbers.below(Self.garbage.count)]
                isWhole = true
            case 3:
                sent += answer + answer
                isWhole = true
            default:
                sent += answer
                isWhole = true
            }
        }
        switch numbers.below(8) {
        case 0: late = Self.answers[0] + Self.barrier
        case 1: break
        // Both are read at once: a program cannot know that an answer comes twice when the second comes later.
        case 2 where sent.count < 4000:
            sent += Self.barrier + Self.barrier
            isWhole = true
        default:
            sent += Self.barrier
            isWhole = true
            if numbers.below(2) == 0 { key() }
        }
    }

    var description: String {
        String(decoding: sent.prefix(400), as: UTF8.self).debugDescription + " late "
            + String(decoding: late, as: UTF8.self).debugDescription
    }
}
