/// About how often each key was used of late: a count-min sketch of 4-bit counters (Cormode, Muthukrishnan 2005) that
/// halves all of them once in a while, as TinyLFU does (Einziger, Friedman, Manes, "TinyLFU: A Highly Efficient Cache
/// Admission Policy", ACM Transactions on Storage 13(4), 2017). Eight bytes for each entry of the cache.
///
/// The four counters of a key lie in one block of 64 bytes, so that a look costs one cache line. Keys are digests,
/// whose bits serve as independent hashes as they are.
struct FrequencySketch {
    /// Sixteen counters a word; eight words a block.
    private var words = [UInt64](repeating: 0, count: blockSize)
    /// Counted since the counters were halved.
    private var additions = 0

    private static let blockSize = 8
    /// Counters are halved after so many additions for each word. The paper's sample, of ten times the entries.
    private static let sample = 10
    private static let evenBits: UInt64 = 0x1111_1111_1111_1111
    private static let lowBits: UInt64 = 0x7777_7777_7777_7777

    /// Entries that it is made for.
    var capacity: Int { words.count }

    /// Makes it fit for twice as many entries. Each key's counters are found in either half and go on in one of them.
    mutating func grow() { words += words }

    /// A key's count, from 0 to 15: never too low by itself, too high where keys share all their counters.
    func frequency(of digest: SHA256.Digest) -> Int {
        let base = block(of: digest)
        var hash = digest.third
        var least: UInt64 = 15
        for row in 0..<4 {
            least = min(least, words[base + Self.word(hash, row)] >> Self.shift(hash) & 15)
            hash >>= 8
        }
        return Int(least)
    }

    /// Counts one use of a key.
    mutating func add(_ digest: SHA256.Digest) {
        let base = block(of: digest)
        var hash = digest.third
        var added: UInt64 = 0
        var words = words.mutableSpan
        for row in 0..<4 {
            let index = base + Self.word(hash, row)
            let shift = Self.shift(hash)
            // No branch: whether a counter is full is hard to foresee.
            let one: UInt64 = words[index] >> shift & 15 < 15 ? 1 : 0
            words[index] &+= one << shift
            added |= one
            hash >>= 8
        }
        if added != 0 { noteAddition() }
    }

    private mutating func noteAddition() {
        additions += 1
        if additions == Self.sample * words.count { age() }
    }

    /// Halves all counters, so that what was wanted once does not count for ever.
    private mutating func age() {
        var odd = 0
        for index in words.indices {
            odd += (words[index] & Self.evenBits).nonzeroBitCount
            words[index] = words[index] >> 1 & Self.lowBits
        }
        // Each key has four counters.
        additions = (additions - odd / 4) / 2
    }

    private func block(of digest: SHA256.Digest) -> Int {
        (Int(truncatingIfNeeded: digest.second) & (words.count / Self.blockSize - 1)) * Self.blockSize
    }

    /// A word of the block: each row has two of its own.
    private static func word(_ hash: UInt64, _ row: Int) -> Int { 2 * row + Int(hash & 1) }

    private static func shift(_ hash: UInt64) -> UInt64 { (hash >> 1 & 15) * 4 }
}
