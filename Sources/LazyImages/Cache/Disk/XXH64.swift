/// The 64-bit hash of Yann Collet's "XXH64 algorithm description", seed 0, fed in pieces. It detects damaged cache
/// entries at memory speed, but gives no protection against an attacker.
package struct XXH64: Sendable {
    private var lanes = Lanes()
    /// Bytes that do not fill a stripe yet: the first `pendingCount` of them.
    private var pending = InlineArray<32, UInt8>(repeating: 0)
    private var pendingCount = 0
    private var totalCount: UInt64 = 0

    package init() {}

    /// The hash of `bytes`.
    package static func hash(of bytes: Span<UInt8>) -> UInt64 {
        var hash = XXH64()
        hash.update(bytes)
        return hash.finish()
    }

    /// Adds bytes to the input.
    package mutating func update(_ bytes: Span<UInt8>) { update(unsafe bytes.bytes) }

    /// Adds bytes to the input.
    package mutating func update(_ bytes: RawSpan) {
        totalCount &+= UInt64(bytes.byteCount)
        var offset = 0
        if pendingCount > 0 {
            offset = min(Lanes.stripe - pendingCount, bytes.byteCount)
            keep(bytes.extracting(first: offset))
            guard pendingCount == Lanes.stripe else { return }
            lanes.consume(unsafe pending.span.bytes)
            pendingCount = 0
        }
        let whole = (bytes.byteCount - offset) & ~(Lanes.stripe - 1)
        if whole > 0 { lanes.consume(bytes.extracting(offset..<offset + whole)) }
        keep(bytes.extracting(droppingFirst: offset + whole))
    }

    /// Steps 3 to 6 of the description: joins the lanes, adds the length and the rest, and mixes.
    package consuming func finish() -> UInt64 {
        var hash = totalCount < UInt64(Lanes.stripe) ? prime5 : lanes.joined
        hash &+= totalCount
        let rest = unsafe pending.span.bytes.extracting(first: pendingCount)
        var offset = 0
        while rest.byteCount - offset >= 8 {
            hash ^= mixRound(0, rest.littleEndian(at: offset, as: UInt64.self))
            hash = rotate(hash, 27) &* prime1 &+ prime4
            offset += 8
        }
        if rest.byteCount - offset >= 4 {
            hash ^= UInt64(rest.littleEndian(at: offset, as: UInt32.self)) &* prime1
            hash = rotate(hash, 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < rest.byteCount {
            hash ^= UInt64(rest.littleEndian(at: offset, as: UInt8.self)) &* prime5
            hash = rotate(hash, 11) &* prime1
            offset += 1
        }
        hash = (hash ^ hash >> 33) &* prime2
        hash = (hash ^ hash >> 29) &* prime3
        return hash ^ hash >> 32
    }

    private mutating func keep(_ bytes: RawSpan) {
        for offset in 0..<bytes.byteCount {
            pending[pendingCount + offset] = bytes.littleEndian(at: offset, as: UInt8.self)
        }
        pendingCount += bytes.byteCount
    }
}

/// Steps 1 and 2 of the description: four accumulators that take eight bytes each from every stripe of 32.
private struct Lanes {
    static let stripe = 32

    var first = prime1 &+ prime2
    var second = prime2
    var third: UInt64 = 0
    var fourth = 0 &- prime1

    /// Takes whole stripes.
    mutating func consume(_ bytes: RawSpan) {
        var copy = self
        var offset = 0
        while offset <= bytes.byteCount - Self.stripe {
            copy.first = mixRound(copy.first, bytes.littleEndian(at: offset, as: UInt64.self))
            copy.second = mixRound(copy.second, bytes.littleEndian(at: offset + 8, as: UInt64.self))
            copy.third = mixRound(copy.third, bytes.littleEndian(at: offset + 16, as: UInt64.self))
            copy.fourth = mixRound(copy.fourth, bytes.littleEndian(at: offset + 24, as: UInt64.self))
            offset += Self.stripe
        }
        self = copy
    }

    var joined: UInt64 {
        var hash = rotate(first, 1) &+ rotate(second, 7) &+ rotate(third, 12) &+ rotate(fourth, 18)
        func join(_ lane: UInt64) { hash = (hash ^ mixRound(0, lane)) &* prime1 &+ prime4 }
        join(first)
        join(second)
        join(third)
        join(fourth)
        return hash
    }
}

extension RawSpan {
    /// A little-endian integer. The range is checked in debug builds only: the loops above stay within it.
    @inline(__always)
    fileprivate func littleEndian<Word: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as: Word.Type)
        -> Word
    {
        assert(offset >= 0 && offset <= byteCount - MemoryLayout<Word>.size)
        return Word(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Word.self))
    }
}

@inline(__always)
private func mixRound(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotate(lane &+ input &* prime2, 31) &* prime1
}

@inline(__always)
private func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 { word &<< count | word &>> (64 &- count) }

private let prime1: UInt64 = 0x9e37_79b1_85eb_ca87
private let prime2: UInt64 = 0xc2b2_ae3d_27d4_eb4f
private let prime3: UInt64 = 0x1656_67b1_9e37_79f9
private let prime4: UInt64 = 0x85eb_ca77_c2b2_ae63
private let prime5: UInt64 = 0x27d4_eb2f_1656_67c5
