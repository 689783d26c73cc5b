/// Reads the bits of one scan across its restart markers.
struct EntropyReader {
    var bits: EntropyBits
    /// Whether the data ended too early.
    private(set) var isTruncated = false
    private let interval: Int
    private var untilRestart: Int
    private var restarts = 0

    init(at position: Int, restartInterval: Int) {
        bits = EntropyBits(position: position)
        interval = restartInterval
        untilRestart = restartInterval
    }

    /// Call it before each MCU. Returns true after a restart marker, where predictions start anew (T.81 F.2.1.3.1).
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

    /// How many MCUs may be skipped before the next restart marker.
    var unitsToRestart: Int { interval > 0 ? untilRestart : .max }

    /// Skips MCUs that take no bits, at most `unitsToRestart`.
    @inline(__always)
    mutating func skipUnits(_ count: Int) {
        if interval > 0 { untilRestart &-= count }
    }

    private mutating func restart(in file: Span<UInt8>) throws(ImageDecodingError) -> Bool {
        let end = JPEGSegments.firstMarker(in: file, from: bits.position, skippingRestarts: false)
        guard let code = file.byte(at: end + 1), JPEGMarker(rawValue: code).isRestart else {
            isTruncated = true
            return false
        }
        guard Int(code & 7) == restarts & 7 else {
            throw .corrupt(segment: "RST\(code & 7) instead of restart marker \(restarts & 7)", offset: end)
        }
        restarts &+= 1
        bits = EntropyBits(position: end + 2)
        return true
    }

    /// Call it after each MCU, valid or not. If the data has ended, the scan counts as truncated and not as corrupt.
    @inline(__always)
    mutating func endUnit(isSound: Bool) throws(ImageDecodingError) {
        if isSound, !bits.overran { return }
        guard bits.isNearEnd else {
            throw .corrupt(segment: "coefficients of a scan", offset: bits.position)
        }
        isTruncated = true
    }
}

/// Reads entropy-coded bits from the file, highest bit first. Skips the zero stuffed after each 0xFF (T.81 F.1.2.3) and
/// never reads past the next marker: from there on it returns zeros, and `overran` becomes true.
struct EntropyBits {
    /// The next bits, highest first. Below `count` bits there may be a part of the next byte.
    private var bits: UInt64 = 0
    private var count = 0
    /// The number of trailing bits that are not in the file.
    private var padding = 0
    /// The next byte to read: the 0xFF of a marker, or the end of the file, once the data is used up.
    private(set) var position: Int

    init(position: Int) { self.position = position }

    /// Makes at least 32 bits available, for a code of 16 bits and a coefficient of 15.
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

    /// Whether a byte of the word is 0xFF.
    @inline(__always)
    static func hasMarkerByte(_ word: UInt64) -> Bool {
        (~word &- 0x0101_0101_0101_0101) & word & 0x8080_8080_8080_8080 != 0
    }

    /// Returns a copy, so that the caller's value can stay in registers.
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

    /// Whether the remaining bits are fewer than the longest code: an invalid code may be a truncated one.
    fileprivate var isNearEnd: Bool { count &- padding < JPEGHuffmanTable.longestCode }

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
        // Two shifts, because a shift by 64 for zero bits would not shift.
        let value = Int(truncatingIfNeeded: (bits &>> 1) &>> UInt64(truncatingIfNeeded: 63 &- length))
        skip(length)
        return value
    }

    /// The entry of the next symbol without consuming its code; 0 for an invalid code.
    @inline(__always)
    func entry(in table: Span<UInt32>) -> UInt32 {
        let entry = table[peek(JPEGHuffmanTable.rootBits)]
        guard entry & 0xFF == JPEGHuffmanTable.Entry.secondLevel else { return entry }
        return secondEntry(in: table, after: entry)
    }

    /// The entry of the next symbol, when `entry` of the first level refers to the second.
    @inline(__always)
    func secondEntry(in table: Span<UInt32>, after entry: UInt32) -> UInt32 {
        let rest = peek(JPEGHuffmanTable.longestCode) & (1 &<< JPEGHuffmanTable.secondBits &- 1)
        return table[JPEGHuffmanTable.start(ofSecondLevel: entry) &+ rest]
    }

    /// Adds the difference of the next DC coefficient to its prediction (T.81 F.2.2.1). False for an invalid code.
    @inline(__always)
    mutating func addDifference(to prediction: inout Int32, _ dc: Span<UInt32>) -> Bool {
        typealias Entry = JPEGHuffmanTable.Entry
        let entry = entry(in: dc)
        skip(Entry.length(entry))
        if Entry.hasCoefficient(entry) {
            prediction &+= Entry.coefficient(entry)
        } else if Entry.symbol(entry) > 0 {
            prediction &+= takeSigned(Entry.symbol(entry))
        }
        return entry != 0
    }

    /// Reads a signed number of `length` bits, at least 1, as in T.81 F.2.2.1: a leading zero bit means negative.
    @inline(__always)
    mutating func takeSigned(_ length: Int) -> Int32 {
        let isNegative = Int64(bitPattern: ~bits) &>> 63
        let value = Int64(take(length))
        return Int32(truncatingIfNeeded: value &- (isNegative & (1 &<< Int64(length) &- 1)))
    }
}
