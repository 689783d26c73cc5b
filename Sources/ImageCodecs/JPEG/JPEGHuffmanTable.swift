/// A Huffman code (T.81 annex C) as a two-level table: the next nine bits select an entry, which has the symbol or
/// refers to a second-level table for longer codes.
///
/// If a coefficient's code and magnitude bits (T.81 F.2.2.1) fit into nine bits, a first-level entry has the
/// coefficient itself.
struct JPEGHuffmanTable {
    static let rootBits = 9
    static let longestCode = 16
    static let secondBits = longestCode - rootBits

    /// Three kinds of entries, from the lowest bit:
    ///
    ///     8 bits of length   8 bits     16 bits
    ///     code, magnitude    advance    coefficient, signed, never 0
    ///     code               symbol     0
    ///     255                number     0, the second-level table
    ///
    /// The advance counts the coefficient and the zeros before it. An entry of 0 is an invalid code.
    let entries: [UInt32]

    enum Entry {
        static let secondLevel: UInt32 = 255
        @inline(__always)
        static func length(_ entry: UInt32) -> Int { Int(entry & 0xFF) }
        @inline(__always)
        static func symbol(_ entry: UInt32) -> Int { Int(entry &>> 8 & 0xFF) }
        @inline(__always)
        static func hasCoefficient(_ entry: UInt32) -> Bool { entry > 0xFFFF }
        @inline(__always)
        static func advance(_ entry: UInt32) -> Int { Int(entry &>> 8 & 0xFF) }
        @inline(__always)
        static func coefficient(_ entry: UInt32) -> Int32 { Int32(bitPattern: entry) &>> 16 }
    }

    /// Builds the table from the number of codes of each length and the symbols in code order. Nil if there are too
    /// many codes of a length. Accepts the code of all ones, which T.81 C.2 reserves, as other decoders do.
    init?(counts: Span<UInt8>, symbols: Span<UInt8>) {
        var entries = [UInt32](repeating: 0, count: 1 << Self.rootBits)
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

    /// The start of the second-level table that `entry` refers to.
    @inline(__always)
    static func start(ofSecondLevel entry: UInt32) -> Int {
        1 &<< rootBits &+ Entry.symbol(entry) &<< secondBits
    }

    private static func add(_ symbol: UInt8, code: Int, length: Int, to entries: inout [UInt32]) {
        let entry = UInt32(symbol) << 8 | UInt32(length)
        if length <= rootBits {
            let free = rootBits - length
            for rest in 0..<1 << free {
                entries[code << free | rest] =
                    withCoefficient(symbol, length: length, rest: rest, restBits: free) ?? entry
            }
            return
        }
        let root = code >> (length - rootBits)
        if entries[root] == 0 {
            let number = (entries.count - 1 << rootBits) >> secondBits
            entries[root] = UInt32(number) << 8 | Entry.secondLevel
            entries.append(contentsOf: repeatElement(0, count: 1 << secondBits))
        }
        let free = longestCode - length
        let first = start(ofSecondLevel: entries[root]) + (code << free & (1 << secondBits - 1))
        for index in first..<first + 1 << free { entries[index] = entry }
    }

    /// The entry with the coefficient, if its magnitude bits are among the `restBits` after the code.
    private static func withCoefficient(_ symbol: UInt8, length: Int, rest: Int, restBits: Int) -> UInt32? {
        let magnitudeBits = Int(symbol & 15)
        guard magnitudeBits > 0, magnitudeBits <= restBits else { return nil }
        let bits = rest >> (restBits - magnitudeBits)
        let value = bits < 1 << (magnitudeBits - 1) ? bits - (1 << magnitudeBits - 1) : bits
        return UInt32(bitPattern: Int32(value)) << 16 | UInt32(symbol >> 4 + 1) << 8
            | UInt32(length + magnitudeBits)
    }
}
