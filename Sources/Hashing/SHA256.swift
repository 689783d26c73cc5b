/// The hash of FIPS 180-4 section 6.2, fed in pieces. It names cache entries and checks manifests. A value: copy it to
/// continue one beginning in two ways.
package struct SHA256: Sendable {
    private var state = State()
    /// Bytes that do not fill a block yet: the first `pendingCount` of them.
    private var pending = InlineArray<64, UInt8>(repeating: 0)
    private var pendingCount = 0
    private var totalCount: UInt64 = 0

    package init() {}

    /// The digest of `bytes`.
    package static func hash(of bytes: Span<UInt8>) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    /// The digest of a text's UTF-8.
    package static func hash(of text: String) -> Digest {
        hash(of: text.utf8Span.span)
    }

    /// Adds bytes to the message.
    package mutating func update(_ bytes: Span<UInt8>) {
        totalCount &+= UInt64(bytes.count)
        var offset = 0
        while pendingCount > 0, offset < bytes.count {
            append(bytes[offset])
            offset += 1
        }
        let raw = unsafe bytes.bytes
        while bytes.count - offset >= Self.blockSize {
            state.compress(raw, at: offset)
            offset += Self.blockSize
        }
        while offset < bytes.count {
            append(bytes[offset])
            offset += 1
        }
    }

    /// Ends the message (section 5.1.1: a one bit, zeros, the length in bits) and returns its digest.
    package consuming func finish() -> Digest {
        let bitCount = totalCount &* 8
        append(0x80)
        while pendingCount != Self.blockSize - 8 { append(0) }
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: bitCount >> shift))
        }
        return state.digest
    }

    private mutating func append(_ byte: UInt8) {
        pending[pendingCount] = byte
        pendingCount += 1
        if pendingCount == Self.blockSize {
            state.compress(unsafe pending.span.bytes, at: 0)
            pendingCount = 0
        }
    }

    private static let blockSize = 64
}

extension SHA256 {
    /// 256 bits as four big-endian words: each word can serve as a hash.
    package struct Digest: Hashable, Sendable, BitwiseCopyable {
        package let first: UInt64
        package let second: UInt64
        package let third: UInt64
        package let fourth: UInt64

        package init(first: UInt64, second: UInt64, third: UInt64, fourth: UInt64) {
            (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
        }

        package static let byteCount = 32

        /// 64 digits, lower case, most significant first: as `sha256sum` prints it.
        package var hexadecimal: String {
            String(decoding: (0..<2 * Self.byteCount).map(hexadecimalDigit), as: UTF8.self)
        }

        /// Whether a text is one that `hexadecimal` may give.
        package static func isHexadecimal(_ text: String) -> Bool {
            text.utf8.count == 2 * byteCount
                && text.utf8.allSatisfy {
                    UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
                }
        }

        /// The ASCII code of one of the 64 digits of `hexadecimal`.
        package func hexadecimalDigit(at index: Int) -> UInt8 {
            let word =
                switch index >> 4 {
                case 0: first
                case 1: second
                case 2: third
                default: fourth
                }
            let value = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index & 15))) & 15
            return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
        }
    }
}

/// The eight working words of section 6.2 and what one block does to them.
private struct State {
    // The first 32 bits of the fractional parts of the square roots of the first eight primes (section 5.3.3).
    var a: UInt32 = 0x6a09_e667
    var b: UInt32 = 0xbb67_ae85
    var c: UInt32 = 0x3c6e_f372
    var d: UInt32 = 0xa54f_f53a
    var e: UInt32 = 0x510e_527f
    var f: UInt32 = 0x9b05_688c
    var g: UInt32 = 0x1f83_d9ab
    var h: UInt32 = 0x5be0_cd19

    var digest: SHA256.Digest {
        func join(_ high: UInt32, _ low: UInt32) -> UInt64 { UInt64(high) << 32 | UInt64(low) }
        return SHA256.Digest(first: join(a, b), second: join(c, d), third: join(e, f), fourth: join(g, h))
    }

    /// Section 6.2.2 for the 64 bytes of `bytes` from `offset` on.
    mutating func compress(_ bytes: RawSpan, at offset: Int) {
        precondition(offset >= 0 && offset <= bytes.byteCount - 64)
        var words = Schedule(bytes, at: offset)
        var next = self
        next.sixteenRounds(words, constants: 0)
        for constants in stride(from: 16, to: 64, by: 16) {
            words.extend()
            next.sixteenRounds(words, constants: constants)
        }
        a &+= next.a
        b &+= next.b
        c &+= next.c
        d &+= next.d
        e &+= next.e
        f &+= next.f
        g &+= next.g
        h &+= next.h
    }

    /// Sixteen rounds. Each call renames the working variables, so that no word is moved.
    @inline(__always)
    private mutating func sixteenRounds(_ words: Schedule, constants: Int) {
        round(a, b, c, &d, e, f, g, &h, words[0] &+ roundConstants[constants &+ 0])
        round(h, a, b, &c, d, e, f, &g, words[1] &+ roundConstants[constants &+ 1])
        round(g, h, a, &b, c, d, e, &f, words[2] &+ roundConstants[constants &+ 2])
        round(f, g, h, &a, b, c, d, &e, words[3] &+ roundConstants[constants &+ 3])
        round(e, f, g, &h, a, b, c, &d, words[4] &+ roundConstants[constants &+ 4])
        round(d, e, f, &g, h, a, b, &c, words[5] &+ roundConstants[constants &+ 5])
        round(c, d, e, &f, g, h, a, &b, words[6] &+ roundConstants[constants &+ 6])
        round(b, c, d, &e, f, g, h, &a, words[7] &+ roundConstants[constants &+ 7])
        round(a, b, c, &d, e, f, g, &h, words[8] &+ roundConstants[constants &+ 8])
        round(h, a, b, &c, d, e, f, &g, words[9] &+ roundConstants[constants &+ 9])
        round(g, h, a, &b, c, d, e, &f, words[10] &+ roundConstants[constants &+ 10])
        round(f, g, h, &a, b, c, d, &e, words[11] &+ roundConstants[constants &+ 11])
        round(e, f, g, &h, a, b, c, &d, words[12] &+ roundConstants[constants &+ 12])
        round(d, e, f, &g, h, a, b, &c, words[13] &+ roundConstants[constants &+ 13])
        round(c, d, e, &f, g, h, a, &b, words[14] &+ roundConstants[constants &+ 14])
        round(b, c, d, &e, f, g, h, &a, words[15] &+ roundConstants[constants &+ 15])
    }
}

/// The last sixteen words of the message schedule; no others are needed. Every index is a constant, so that the words
/// stay in registers.
private struct Schedule {
    private var words: InlineArray<16, UInt32>

    /// Step 1 of section 6.2.2 for the first sixteen: the block's own words. The caller has checked the range.
    @inline(__always)
    init(_ bytes: RawSpan, at offset: Int) {
        words = InlineArray { index in
            UInt32(
                bigEndian: unsafe bytes.unsafeLoadUnaligned(
                    fromUncheckedByteOffset: offset &+ 4 &* index, as: UInt32.self))
        }
    }

    @inline(__always)
    subscript(index: Int) -> UInt32 { words[index] }

    /// Step 1 for the next sixteen words; each replaces the word sixteen before it.
    @inline(__always)
    mutating func extend() {
        words[0] &+= smallSigma1(words[14]) &+ words[9] &+ smallSigma0(words[1])
        words[1] &+= smallSigma1(words[15]) &+ words[10] &+ smallSigma0(words[2])
        words[2] &+= smallSigma1(words[0]) &+ words[11] &+ smallSigma0(words[3])
        words[3] &+= smallSigma1(words[1]) &+ words[12] &+ smallSigma0(words[4])
        words[4] &+= smallSigma1(words[2]) &+ words[13] &+ smallSigma0(words[5])
        words[5] &+= smallSigma1(words[3]) &+ words[14] &+ smallSigma0(words[6])
        words[6] &+= smallSigma1(words[4]) &+ words[15] &+ smallSigma0(words[7])
        words[7] &+= smallSigma1(words[5]) &+ words[0] &+ smallSigma0(words[8])
        words[8] &+= smallSigma1(words[6]) &+ words[1] &+ smallSigma0(words[9])
        words[9] &+= smallSigma1(words[7]) &+ words[2] &+ smallSigma0(words[10])
        words[10] &+= smallSigma1(words[8]) &+ words[3] &+ smallSigma0(words[11])
        words[11] &+= smallSigma1(words[9]) &+ words[4] &+ smallSigma0(words[12])
        words[12] &+= smallSigma1(words[10]) &+ words[5] &+ smallSigma0(words[13])
        words[13] &+= smallSigma1(words[11]) &+ words[6] &+ smallSigma0(words[14])
        words[14] &+= smallSigma1(words[12]) &+ words[7] &+ smallSigma0(words[15])
        words[15] &+= smallSigma1(words[13]) &+ words[8] &+ smallSigma0(words[0])
    }
}

/// Step 3 of section 6.2.2 for one round; `input` is the sum of its constant and its word of the schedule.
@inline(__always)
private func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32,
    _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ input: UInt32
) {
    let choice = g ^ (e & (f ^ g))
    let majority = (a & b) | (c & (a | b))
    let first = h &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ choice &+ input
    d &+= first
    h = first &+ (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ majority
}

@inline(__always)
private func smallSigma0(_ word: UInt32) -> UInt32 { rotate(word, 7) ^ rotate(word, 18) ^ (word >> 3) }

@inline(__always)
private func smallSigma1(_ word: UInt32) -> UInt32 { rotate(word, 17) ^ rotate(word, 19) ^ (word >> 10) }

@inline(__always)
private func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
private let roundConstants: InlineArray<64, UInt32> = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
]

extension SHA256 {
    /// HMAC-SHA256 (RFC 2104) of a message: it cannot be made without the key.
    package static func authenticate(_ message: Span<UInt8>, with key: Span<UInt8>) -> Digest {
        var block = [UInt8](repeating: 0, count: blockSize)
        if key.count > blockSize {
            // Section 2: a key longer than a block is hashed first.
            block.replaceSubrange(0..<Digest.byteCount, with: hash(of: key).bytes)
        } else {
            for index in key.indices { block[index] = key[index] }
        }
        let innerKey = block.map { $0 ^ 0x36 }
        var inner = SHA256()
        inner.update(innerKey.span)
        inner.update(message)
        let innerDigest = inner.finish().bytes
        let outerKey = block.map { $0 ^ 0x5C }
        var outer = SHA256()
        outer.update(outerKey.span)
        outer.update(innerDigest.span)
        return outer.finish()
    }
}

extension SHA256.Digest {
    /// The 32 bytes, most significant first.
    package var bytes: [UInt8] {
        [first, second, third, fourth].flatMap { word in
            stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }
}
