/// The bits of a DEFLATE stream, lowest bit of each byte first (RFC 1951 section 3.1.1).
struct InflateBits {
    private(set) var bits: UInt64 = 0
    /// How many of `bits` came from the input. Past the input's end the rest reads as zero and the number turns
    /// negative, which the caller checks.
    private(set) var count = 0
    private(set) var position: Int

    init(position: Int) { self.position = position }

    /// Makes at least 48 bits available, enough for a length and a distance with all their extra bits.
    @inline(__always)
    mutating func refill(from input: Span<UInt8>) {
        if count >= 48 { return }
        if position &+ 8 <= input.count {
            bits |= input.littleEndianWord(at: position) &<< UInt64(truncatingIfNeeded: count)
            position &+= (63 &- count) &>> 3
            count |= 56
        } else {
            while count <= 56, position < input.count {
                if count >= 0 { bits |= UInt64(input[position]) &<< UInt64(truncatingIfNeeded: count) }
                position &+= 1
                count &+= 8
            }
        }
    }

    @inline(__always)
    mutating func skip(_ length: Int) {
        bits &>>= UInt64(truncatingIfNeeded: length)
        count &-= length
    }

    @inline(__always)
    mutating func take(_ length: Int) -> Int {
        let value = Int(truncatingIfNeeded: bits) & (1 &<< length &- 1)
        skip(length)
        return value
    }

    /// Drops the rest of the current byte and gives whole bytes that were read ahead back to the input.
    mutating func alignToByte() {
        position &-= max(0, count) &>> 3
        bits = 0
        count = 0
    }

    /// Moves over bytes that were read past this reader.
    mutating func advance(by length: Int) { position &+= length }

    /// The next symbol's entry; its code is consumed, its extra bits are not.
    @inline(__always)
    mutating func entry(in table: Span<UInt32>, rootBits: Int) -> UInt32 {
        var entry = table[Int(truncatingIfNeeded: bits) & (1 &<< rootBits &- 1)]
        skip(Int(entry & 15))
        if InflateTable.isLiteral(entry) { return entry }
        if entry >> 8 & 15 == InflateTable.Kind.secondLevel {
            let width = Int(entry >> 4 & 15)
            entry = table[Int(entry >> 16) &+ Int(truncatingIfNeeded: bits) & (1 &<< width &- 1)]
            skip(Int(entry & 15))
        }
        return entry
    }
}
