/// The boolean entropy decoder (RFC 6386 section 7): each bit has a probability of being 0, in 256ths.
struct LossyBits {
    /// The next bits of the file from the highest on. The first eight are compared with the split.
    private var value: UInt64 = 0
    /// The number of valid bits of `value`, and how many of them lie past the end of the data.
    private var count = 0
    private var padding = 0
    /// The range less one, which saves two steps of each bit.
    private var range: UInt32 = 254
    private var position: Int
    private let end: Int

    /// Reads the part of the file in `data`.
    init(_ data: Range<Int>) {
        position = data.lowerBound
        end = data.upperBound
    }

    /// Whether more bits were read than there are. They read as 0.
    var overran: Bool { count < padding }

    /// Makes seven calls of `take` or `signed` possible: each uses at most seven bits, and looks at eight.
    @inline(__always)
    mutating func reserve(in file: Span<UInt8>) {
        if count < 50 { refill(from: file) }
    }

    /// Reads a bit that is 0 with a probability of `probability / 256`.
    @inline(__always)
    mutating func read(_ probability: UInt8, in file: Span<UInt8>) -> Bool {
        if count < 8 { refill(from: file) }
        return take(probability)
    }

    /// Negates a number if the next bit, which is as likely 0 as 1, is set. Without a branch: it could not be
    /// predicted. Needs reserved bits.
    @inline(__always)
    mutating func signed(_ number: Int32) -> Int32 {
        let split = range &>> 1
        let bigSplit = UInt64(split &+ 1) &<< 56
        let mask: UInt64 = 0 &- (value >= bigSplit ? 1 : 0)
        value &-= bigSplit & mask
        let narrow = UInt32(truncatingIfNeeded: mask)
        normalise((range &- split) & narrow | (split &+ 1) & ~narrow)
        let sign = Int32(truncatingIfNeeded: mask)
        return (number ^ sign) &- sign
    }

    /// As `read`, of reserved bits. The two cases are branches, which processors predict well: the next bit need not wait
    /// for this one.
    @inline(__always)
    mutating func take(_ probability: UInt8) -> Bool {
        let split = (range &* UInt32(probability)) &>> 8
        if UInt32(truncatingIfNeeded: value &>> 56) > split {
            value &-= UInt64(split &+ 1) &<< 56
            normalise(range &- split)
            return true
        }
        normalise(split &+ 1)
        return false
    }

    /// Sets the range, made 128 or more.
    @inline(__always)
    private mutating func normalise(_ narrow: UInt32) {
        // The range is not 0, which this tells the compiler.
        let shift = (narrow | 1).leadingZeroBitCount ^ 31 ^ 7
        range = narrow &<< UInt32(truncatingIfNeeded: shift) &- 1
        value &<<= UInt64(truncatingIfNeeded: shift)
        count &-= shift
    }

    /// Reads a bit that is as likely 0 as 1.
    mutating func flag(in file: Span<UInt8>) -> Bool { read(128, in: file) }

    /// Reads a number of `length` bits, the highest first.
    mutating func number(_ length: Int, in file: Span<UInt8>) -> Int {
        var number = 0
        for _ in 0..<length { number = number << 1 | (flag(in: file) ? 1 : 0) }
        return number
    }

    /// Reads a flag and, if it is set, a number of `length` bits and its sign; else 0.
    mutating func optionalSigned(_ length: Int, in file: Span<UInt8>) -> Int {
        guard flag(in: file) else { return 0 }
        let magnitude = number(length, in: file)
        return flag(in: file) ? -magnitude : magnitude
    }

    @inline(__always)
    private mutating func refill(from file: Span<UInt8>) {
        if position &+ 8 <= end {
            value |= file.bigEndianWord(at: position) &>> UInt64(truncatingIfNeeded: count)
            position &+= (63 &- count) &>> 3
            count |= 56
        } else {
            self = refilledByBytes(from: file)
        }
    }

    /// Returns a copy, so that the caller's value can stay in registers.
    @inline(never)
    private func refilledByBytes(from file: Span<UInt8>) -> LossyBits {
        var filled = self
        while filled.count <= 56 {
            if filled.position < end {
                let byte = UInt64(file[filled.position])
                filled.value |= byte &<< UInt64(truncatingIfNeeded: 56 &- filled.count)
                filled.position &+= 1
            } else {
                filled.padding &+= 8
            }
            filled.count &+= 8
        }
        return filled
    }
}
