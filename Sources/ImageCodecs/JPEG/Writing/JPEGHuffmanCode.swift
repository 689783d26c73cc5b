/// The optimal Huffman code for given frequencies, with no code longer than 16 bits or all ones (T.81 K.2), identical
/// to libjpeg's.
struct JPEGHuffmanCode {
    /// The number of codes of each length from 1 to 16.
    let counts: [UInt8]
    /// The symbols in code order.
    let symbols: [UInt8]

    /// - Parameter frequencies: the frequency of each of the 256 symbols.
    init(frequencies: Span<UInt32>) {
        var depths = Self.depths(frequencies)
        // The pseudo-symbol has the longest code of all ones.
        let counts = Self.limited(depths)
        depths.removeLast()
        self.counts = counts.dropFirst().map { UInt8($0) }
        let used = depths.indices.filter { depths[$0] > 0 }
        symbols = used.sorted { (depths[$0], $0) < (depths[$1], $1) }.map { UInt8($0) }
    }

    /// Calls `body` with each symbol, its code and its length (T.81 C.2).
    func forEach(_ body: (_ symbol: Int, _ code: UInt32, _ length: UInt32) -> Void) {
        var code: UInt32 = 0
        var next = 0
        for (index, count) in counts.enumerated() {
            for _ in 0..<count {
                body(Int(symbols[next]), code, UInt32(index + 1))
                code += 1
                next += 1
            }
            code <<= 1
        }
    }

    /// The depth of each symbol in the Huffman tree, with a 257th pseudo-symbol of frequency 1. The two rarest trees
    /// are merged repeatedly.
    private static func depths(_ frequencies: Span<UInt32>) -> [Int] {
        let unused = frequencies.count
        var trees = [Tree(frequency: 1, symbol: unused)]
        for symbol in 0..<unused where frequencies[symbol] > 0 {
            trees.append(Tree(frequency: Int(frequencies[symbol]), symbol: symbol))
        }
        // The rarest is last.
        trees.sort { $1 < $0 }
        var depths = [Int](repeating: 0, count: unused + 1)
        // The symbols of each tree form a linked list.
        var next = [Int?](repeating: nil, count: unused + 1)
        func deepen(_ symbol: Int) -> Int {
            var last = symbol
            depths[symbol] += 1
            while let following = next[last] {
                last = following
                depths[last] += 1
            }
            return last
        }
        while let rarest = trees.popLast(), let second = trees.popLast() {
            next[deepen(rarest.symbol)] = second.symbol
            _ = deepen(second.symbol)
            let merged = Tree(frequency: rarest.frequency + second.frequency, symbol: rarest.symbol)
            let later = trees.lastIndex { merged < $0 }
            trees.insert(merged, at: later.map { $0 + 1 } ?? 0)
        }
        return depths
    }

    /// The number of codes of each length, at most 16 bits: of a pair of longer codes the first gets the pair's prefix,
    /// and the other is placed beside a shorter code (T.81 K.2, figure K.3).
    private static func limited(_ depths: [Int]) -> [Int] {
        let longest = 16
        var counts = [Int](repeating: 0, count: max(longest, depths.max() ?? 0) + 1)
        for depth in depths where depth > 0 { counts[depth] += 1 }
        for length in stride(from: counts.count - 1, to: longest, by: -1) {
            while counts[length] > 0 {
                let shorter = counts[..<(length - 1)].lastIndex { $0 > 0 } ?? 0
                counts[length] -= 2
                counts[length - 1] += 1
                counts[shorter + 1] += 2
                counts[shorter] -= 1
            }
        }
        if let last = counts[...longest].lastIndex(where: { $0 > 0 }) { counts[last] -= 1 }
        return Array(counts[...longest])
    }
}

/// A tree of symbols, named by one of them.
private struct Tree {
    var frequency: Int
    var symbol: Int

    /// Whether it is merged earlier; for equal frequencies the greatest symbol is.
    static func < (one: Tree, other: Tree) -> Bool {
        one.frequency != other.frequency ? one.frequency < other.frequency : one.symbol > other.symbol
    }
}
