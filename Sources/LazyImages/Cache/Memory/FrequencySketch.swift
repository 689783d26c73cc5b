/// Estimates how often each key was used recently: a count-min sketch of 4-bit counters (Cormode, Muthukrishnan 2005)
/// that halves all counters at intervals, as TinyLFU does (Einziger, Friedman, Manes, "TinyLFU: A Highly Efficient
/// Cache Admission Policy", ACM Transactions on Storage 13(4), 2017). Eight bytes for each entry of the cache.
///
/// The four counters of a key lie in one block of 64 bytes, so that a lookup reads one cache line. Keys are digests,
/// whose bits serve as independent hashes.
struct FrequencySketch {
    /// Sixteen counters per word, eight words per block.
    private var words = [UInt64](repeating: 0, count: blockSize)
    /// Additions since the counters were last halved.
    private var additions = 0

    private static let blockSize = 8
    /// How many additions per word until the counters are halved: the paper's sample, ten times the entries.
    private static let sample = 10
    private static let evenBits: UInt64 = 0x1111_1111_1111_1111
    private static let lowBits: UInt64 = 0x7777_7777_7777_7777

    /// The number of cache entries that it is made for.
    var capacity: Int { words.count }

    /// Doubles the capacity. Both halves hold copies of all counters; each key continues to count in one of them.
    mutating func grow() { words += words }

    /// A key's count, from 0 to 15. Too high if other keys share all its counters.
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
            // No branch: the processor could not predict it.
            let one: UInt64 = words[index] >> shift & 15 < 15 ? 1 : 0
            words[index] &+= one << shift
            added |= one
            hash >>= 8
        }
        if added != 0 { recordAddition() }
    }

    private mutating func recordAddition() {
        additions += 1
        if additions == Self.sample * words.count { age() }
    }

    /// Halves all counters, so that old uses count less and less.
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

    /// The index of a word in the block: each row has two words.
    private static func word(_ hash: UInt64, _ row: Int) -> Int { 2 * row + Int(hash & 1) }

    private static func shift(_ hash: UInt64) -> UInt64 { (hash >> 1 & 15) * 4 }
}
