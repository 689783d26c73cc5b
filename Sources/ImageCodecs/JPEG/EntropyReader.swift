/// Reads the bits of one scan across its restart markers. Damaged data is read as libjpeg reads it, so that the pixels
/// are the same.
struct EntropyReader {
    var bits: EntropyBits
    /// Whether the data of the restart interval has ended early. Its other MCUs have no coefficients.
    private(set) var isStopped = false
    /// The first damage of the scan.
    private(set) var damage: ImageDecodingError?
    private let interval: Int
    private var untilRestart: Int
    private var restarts = 0

    init(at position: Int, restartInterval: Int) {
        bits = EntropyBits(position: position)
        interval = restartInterval
        untilRestart = restartInterval
    }

    /// Whether the rest of the scan has no data.
    var isFinished: Bool { isStopped && interval == 0 }

    /// Call it before each MCU. Returns true at a restart, where predictions start anew (T.81 F.2.1.3.1).
    @inline(__always)
    mutating func beginUnit(in file: Span<UInt8>) -> Bool {
        guard interval > 0 else { return false }
        if untilRestart > 0 {
            untilRestart &-= 1
            return false
        }
        untilRestart = interval &- 1
        restart(in: file)
        return true
    }

    /// Goes behind the next restart marker. If it has another number, libjpeg's rules find the place (jdmarker.c,
    /// `jpeg_resync_to_restart`): one of the next two stays for its own interval, and this one has no data; one of the
    /// last two, and what is no marker, is passed; any other is taken for the right one. Before another marker the
    /// scan's data has ended.
    private mutating func restart(in file: Span<UInt8>) {
        let number = restarts & 7
        restarts &+= 1
        var end = bits.position
        while true {
            end = JPEGSegments.firstMarker(in: file, from: end, skippingRestarts: false)
            let code = file.byte(at: end + 1) ?? JPEGMarker.endOfImage.rawValue
            let marker = JPEGMarker(rawValue: code)
            let ahead = (Int(code) &- number) & 7
            if !marker.isRestart || ahead != 0 {
                note("\(marker) instead of RST\(number)", at: end, in: file)
            }
            if marker.isRestart ? ahead > 5 : code < JPEGMarker.firstFrame.rawValue {
                end += 2
            } else if marker.isRestart, ahead == 0 || ahead > 2 {
                bits = EntropyBits(position: end + 2)
                isStopped = false
                return
            } else {
                bits = EntropyBits(position: end)
                return
            }
        }
    }

    /// Call it after each MCU, sound or not.
    @inline(__always)
    mutating func endUnit(isSound: Bool, in file: Span<UInt8>) {
        if isSound, !bits.overran { return }
        isStopped = isStopped || bits.overran
        note("coefficients of a scan", at: bits.position, in: file)
    }

    private mutating func note(_ segment: String, at offset: Int, in file: Span<UInt8>) {
        guard damage == nil else { return }
        damage =
            offset + 1 < file.count
            ? .corrupt(segment: segment, offset: offset) : .truncated(offset: file.count)
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

    /// The entry of the next symbol without consuming its code.
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
        return entry != Entry.invalid
    }

    /// Reads a signed number of `length` bits, at least 1, as in T.81 F.2.2.1: a leading zero bit means negative.
    @inline(__always)
    mutating func takeSigned(_ length: Int) -> Int32 {
        let isNegative = Int64(bitPattern: ~bits) &>> 63
        let value = Int64(take(length))
        return Int32(truncatingIfNeeded: value &- (isNegative & (1 &<< Int64(length) &- 1)))
    }
}
