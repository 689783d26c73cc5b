/// A Huffman code (T.81 annex C) as a table of two levels: the next nine bits choose an entry that holds the
/// symbol, or leads to a table for the longer codes.
///
/// An entry of the first level may hold more than the symbol: where a coefficient's code and its magnitude bits
/// (T.81 F.2.2.1) fit into the nine bits together, it holds the coefficient itself.
struct JPEGHuffmanTable {
    static let rootBits = 9
    static let longestCode = 16

    /// From the lowest bit: 8 bits of symbol, 5 bits length of the code, 5 bits length with the magnitude (nought
    /// if that does not fit), then 14 bits of coefficient, signed. Of a second level: no symbol but where it
    /// begins, above; length 31. Zero: no such code.
    let entries: [Int32]

    enum Entry {
        static let secondLevel: Int32 = 31
        static func symbol(_ entry: Int32) -> Int { Int(entry & 0xFF) }
        static func length(_ entry: Int32) -> Int { Int(entry >> 8 & 31) }
        static func fusedLength(_ entry: Int32) -> Int { Int(entry >> 13 & 31) }
        static func coefficient(_ entry: Int32) -> Int32 { entry >> 18 }
    }

    /// Builds the table from the number of codes of each length and the symbols in the order of their codes.
    /// Nil when there are more codes of a length than fit. The code of all ones, which T.81 C.2 reserves, is let
    /// pass, as other decoders do.
    init?(counts: Span<UInt8>, symbols: Span<UInt8>) {
        var entries = [Int32](repeating: 0, count: 1 << Self.rootBits)
        var code = 0
        var next = 0
        for length in 1...Self.longestCode {
            for _ in 0..<Int(counts[length - 1]) {
                guard code < 1 << length, next < symbols.count else { return nil }
                Self.add(symbols[next], code: code, length: length, to: &entries)
                code += 1
                next += 1
            }
            code <<= 1
        }
        self.entries = entries
    }

    private static func add(_ symbol: UInt8, code: Int, length: Int, to entries: inout [Int32]) {
        let entry = Int32(symbol) | Int32(length) << 8
        if length <= rootBits {
            let free = rootBits - length
            for rest in 0..<1 << free {
                entries[code << free | rest] =
                    entry | fused(symbol, length: length, rest: rest, restBits: free)
            }
            return
        }
        let secondBits = longestCode - rootBits
        let root = code >> (length - rootBits)
        if entries[root] == 0 {
            entries[root] = Int32(entries.count) << 13 | Entry.secondLevel << 8
            entries.append(contentsOf: repeatElement(0, count: 1 << secondBits))
        }
        let free = longestCode - length
        let first = Int(entries[root] >> 13) + (code << free & (1 << secondBits - 1))
        for index in first..<first + 1 << free { entries[index] = entry }
    }

    /// The coefficient and the length of all its bits, where the magnitude's bits are among the `restBits` that
    /// follow the code.
    private static func fused(_ symbol: UInt8, length: Int, rest: Int, restBits: Int) -> Int32 {
        let magnitudeBits = Int(symbol & 15)
        guard magnitudeBits > 0, magnitudeBits <= restBits else { return 0 }
        let bits = rest >> (restBits - magnitudeBits)
        let value = bits < 1 << (magnitudeBits - 1) ? bits - (1 << magnitudeBits - 1) : bits
        return Int32(value) << 18 | Int32(length + magnitudeBits) << 13
    }
}
