import Foundation

extension [UInt8] {
    /// Whether the bytes contain others, one after the other.
    public func contains(sequence: [UInt8]) -> Bool {
        Data(self).range(of: Data(sequence)) != nil
    }

    /// Whether the bytes contain a text's bytes.
    public func contains(sequence: String) -> Bool { contains(sequence: Array(sequence.utf8)) }

    /// What a program wrote to a terminal, without its control sequences (`ESC [`, parameters, a letter).
    public var withoutSequences: [UInt8] {
        var rest = self[...]
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == 0x1B, rest.first == UInt8(ascii: "[") {
                rest = rest.dropFirst().drop { (0x20..<0x40).contains($0) }.dropFirst()
            } else {
                text.append(byte)
            }
        }
        return text
    }
}
