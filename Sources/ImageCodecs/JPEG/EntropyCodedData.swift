/// The entropy-coded data between two markers, with the zeros that were stuffed after each 0xFF taken out
/// (T.81 F.1.2.3), so that the bits can be read in large steps.
struct EntropyCodedData {
    /// The bytes, followed by `padding` zeros.
    private(set) var bytes: [UInt8] = []
    /// Where the data begins in the file, for errors.
    private(set) var origin = 0
    /// Where the next marker stands in the file, or the file's end.
    private(set) var end: Int

    /// Zeros behind the data, so that it can be read in whole words.
    static let padding = 8

    init(from start: Int) { end = start }

    /// Throws when more bits were used than there are.
    func checkEnough(_ bits: EntropyBits, _ file: Span<UInt8>) throws(ImageDecodingError) {
        if bits.overran(bytes.span) { throw failure(file, what: "scan data too short", at: end) }
    }

    /// Why the data cannot be decoded: where it ends with the file, that is the reason, whatever it looks like.
    func failure(_ file: Span<UInt8>, what: String, at offset: Int) -> ImageDecodingError {
        end >= file.count ? .truncated(offset: file.count) : .corrupt(segment: what, offset: offset)
    }

    /// Loads the data from the file's `position` to the next marker.
    mutating func load(from file: Span<UInt8>, at position: Int) {
        origin = position
        bytes.removeAll(keepingCapacity: true)
        end = JPEGSegments.firstMarker(in: file, from: position, skippingRestarts: false)
        let source = file.extracting(position..<end)
        bytes.append(addingCapacity: source.count + Self.padding) { output in
            var index = 0
            while index < source.count {
                let byte = source[index]
                output.append(byte)
                index &+= byte == 0xFF ? 2 : 1
            }
            output.append(repeating: 0, count: Self.padding)
        }
    }

    /// Passes over the restart marker that must stand at the end, and loads what follows it (T.81 F.2.1.3.1).
    mutating func restart(from file: Span<UInt8>, expecting number: Int) throws(ImageDecodingError) {
        guard let code = file.byte(at: end + 1) else { throw .truncated(offset: file.count) }
        let marker = JPEGMarker(rawValue: code)
        guard marker.isRestart, Int(code & 7) == number & 7 else {
            throw .corrupt(segment: "\(marker) instead of restart marker \(number & 7)", offset: end)
        }
        load(from: file, at: end + 2)
    }
}

/// Reads the bits of entropy-coded data, highest bit first.
struct EntropyBits {
    /// The next bits, from the highest on; what lies below `count` bits may be part of the next.
    private var bits: UInt64 = 0
    private var count = 0
    private var position = 0

    /// Makes at least 32 bits available: a code of 16 bits and a coefficient of 15.
    @inline(__always)
    mutating func refill(from data: Span<UInt8>) {
        if count >= 32 { return }
        if position &+ EntropyCodedData.padding <= data.count {
            let block = data.extracting(position..<position &+ 8)
            let high =
                UInt64(block[0]) &<< 56 | UInt64(block[1]) &<< 48 | UInt64(block[2]) &<< 40 | UInt64(block[3])
                &<< 32
            let low =
                UInt64(block[4]) &<< 24 | UInt64(block[5]) &<< 16 | UInt64(block[6]) &<< 8 | UInt64(block[7])
            bits |= (high | low) &>> UInt64(truncatingIfNeeded: count)
        }
        // Past the end zeros come in; `overran` tells.
        let taken = (63 &- count) &>> 3
        position &+= taken
        count &+= taken &* 8
    }

    /// Whether more bits were used than `data` has.
    func overran(_ data: Span<UInt8>) -> Bool {
        position &* 8 &- count > (data.count &- EntropyCodedData.padding) &* 8
    }

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
    func entry(in table: Span<Int32>) -> Int32 {
        let entry = table[peek(JPEGHuffmanTable.rootBits)]
        guard JPEGHuffmanTable.Entry.length(entry) == Int(JPEGHuffmanTable.Entry.secondLevel) else {
            return entry
        }
        let rest =
            peek(JPEGHuffmanTable.longestCode)
            & (1 &<< (JPEGHuffmanTable.longestCode &- JPEGHuffmanTable.rootBits) &- 1)
        return table[Int(entry &>> 13) &+ rest]
    }

    /// A number of `length` bits as T.81 F.2.2.1 codes it: those beginning with a zero bit are negative.
    @inline(__always)
    mutating func takeSigned(_ length: Int) -> Int32 {
        let value = take(length)
        let isNegative = value &>> (length &- 1) == 0
        return Int32(truncatingIfNeeded: isNegative ? value &- (1 &<< length &- 1) : value)
    }
}
