/// The bits of one scan, from restart marker to restart marker.
struct EntropyReader {
    var bits: EntropyBits
    /// Whether the data ended too early: what follows is not there.
    private(set) var isCut = false
    private let interval: Int
    private var untilRestart: Int
    private var restarts = 0

    init(at position: Int, restartInterval: Int) {
        bits = EntropyBits(position: position)
        interval = restartInterval
        untilRestart = restartInterval
    }

    /// To be called ahead of each minimum coded unit. True where a restart marker was passed, so that predictions begin
    /// anew (T.81 F.2.1.3.1).
    @inline(__always)
    mutating func beginUnit(in file: Span<UInt8>) throws(ImageDecodingError) -> Bool {
        guard interval > 0 else { return false }
        if untilRestart > 0 {
            untilRestart &-= 1
            return false
        }
        untilRestart = interval &- 1
        return try restart(in: file)
    }

    /// How many units may be passed before the next restart marker.
    var unitsToRestart: Int { interval > 0 ? untilRestart : .max }

    /// Passes units that take no bits: at most `unitsToRestart`.
    @inline(__always)
    mutating func passUnits(_ count: Int) {
        if interval > 0 { untilRestart &-= count }
    }

    private mutating func restart(in file: Span<UInt8>) throws(ImageDecodingError) -> Bool {
        let end = JPEGSegments.firstMarker(in: file, from: bits.position, skippingRestarts: false)
        guard let code = file.byte(at: end + 1), JPEGMarker(rawValue: code).isRestart else {
            isCut = true
            return false
        }
        guard Int(code & 7) == restarts & 7 else {
            throw .corrupt(segment: "RST\(code & 7) instead of restart marker \(restarts & 7)", offset: end)
        }
        restarts &+= 1
        bits = EntropyBits(position: end + 2)
        return true
    }

    /// To be called when a unit was decoded, soundly or not. Where the data ended, that is the reason, whatever the bits
    /// looked like.
    @inline(__always)
    mutating func endUnit(isSound: Bool) throws(ImageDecodingError) {
        if isSound, !bits.overran { return }
        guard bits.isNearEnd else {
            throw .corrupt(segment: "coefficients of a scan", offset: bits.position)
        }
        isCut = true
    }
}

/// Reads the bits of entropy-coded data straight from the file, highest bit first. The zeros stuffed after each 0xFF
/// are passed over (T.81 F.1.2.3), and nothing is read past the next marker: from there on zeros come in, which
/// `overran` tells.
struct EntropyBits {
    /// The next bits, from the highest on; what lies below `count` bits may be part of the next byte.
    private var bits: UInt64 = 0
    private var count = 0
    /// How many of the bits, the last ones, are not in the file.
    private var padding = 0
    /// The next byte to read: a marker's 0xFF, or the file's end, once the data is used up.
    private(set) var position: Int

    init(position: Int) { self.position = position }

    /// Makes at least 32 bits available: a code of 16 bits and a coefficient of 15.
    @inline(__always)
    mutating func refill(from file: Span<UInt8>) {
        if count >= 32 { return }
        if position &+ 8 <= file.count {
            let word = file.bigEndianWord(at: position)
            if !Self.hasMarkerByte(word) {
                bits |= word &>> UInt64(truncatingIfNeeded: count)
                position &+= (63 &- count) &>> 3
                count |= 56
                return
            }
        }
        self = refilledByBytes(from: file)
    }

    /// Whether a byte of the word is 0xFF: of its complement, nought.
    @inline(__always)
    static func hasMarkerByte(_ word: UInt64) -> Bool {
        (~word &- 0x0101_0101_0101_0101) & word & 0x8080_8080_8080_8080 != 0
    }

    /// A copy, so that the caller's own can stay in registers.
    @inline(never)
    private func refilledByBytes(from file: Span<UInt8>) -> EntropyBits {
        var filled = self
        while filled.count <= 56 {
            var byte: UInt8 = 0
            let position = filled.position
            if position < file.count, file[position] != 0xFF {
                byte = file[position]
                filled.position &+= 1
            } else if position &+ 1 < file.count, file[position &+ 1] == 0 {
                byte = 0xFF
                filled.position &+= 2
            } else {
                filled.padding &+= 8
            }
            filled.bits |= UInt64(byte) &<< UInt64(truncatingIfNeeded: 56 &- filled.count)
            filled.count &+= 8
        }
        return filled
    }

    /// Whether more bits were used than there are.
    var overran: Bool { count < padding }

    /// Whether the bits that are left could not hold the longest code: what looks like no code may be one cut short.
    var isNearEnd: Bool { count &- padding < JPEGHuffmanTable.longestCode }

    @inline(__always)
    func peek(_ length: Int) -> Int {
        Int(truncatingIfNeeded: bits &>> UInt64(truncatingIfNeeded: 64 &- length))
    }

    @inline(__always)
    mutating func skip(_ length: Int) {
        bits &<<= UInt64(truncatingIfNeeded: length)
        count &-= length
    }

    @inline(__always)
    mutating func take(_ length: Int) -> Int {
        // Two shifts, since one by 64 for no bits at all would shift by none.
        let value = Int(truncatingIfNeeded: (bits &>> 1) &>> UInt64(truncatingIfNeeded: 63 &- length))
        skip(length)
        return value
    }

    /// The entry of the next symbol, whose code is not yet consumed; zero when there is no such code.
    @inline(__always)
    func entry(in table: Span<UInt32>) -> UInt32 {
        let entry = table[peek(JPEGHuffmanTable.rootBits)]
        guard entry & 0xFF == JPEGHuffmanTable.Entry.secondLevel else { return entry }
        return secondEntry(in: table, after: entry)
    }

    /// The entry of the next symbol, where the first level leads to `entry`.
    @inline(__always)
    func secondEntry(in table: Span<UInt32>, after entry: UInt32) -> UInt32 {
        let rest = peek(JPEGHuffmanTable.longestCode) & (1 &<< JPEGHuffmanTable.secondBits &- 1)
        return table[JPEGHuffmanTable.start(ofSecondLevel: entry) &+ rest]
    }

    /// A number of `length` bits, at least one, as T.81 F.2.2.1 codes it: those beginning with a zero bit are negative.
    @inline(__always)
    mutating func takeSigned(_ length: Int) -> Int32 {
        let isNegative = Int64(bitPattern: ~bits) &>> 63
        let value = Int64(take(length))
        return Int32(truncatingIfNeeded: value &- (isNegative & (1 &<< Int64(length) &- 1)))
    }
}
