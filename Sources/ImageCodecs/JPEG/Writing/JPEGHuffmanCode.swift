/// The best Huffman code for symbols that occur so often, none longer than 16 bits and none all of ones (T.81 K.2), the
/// same as libjpeg makes of them.
struct JPEGHuffmanCode {
    /// How many codes there are of each length from 1 to 16.
    let counts: [UInt8]
    /// The symbols in the order of their codes.
    let symbols: [UInt8]

    /// - Parameter frequencies: of each of the 256 symbols.
    init(frequencies: Span<UInt32>) {
        var depths = Self.depths(frequencies)
        // The symbol that is none has a longest code, which is that of ones alone.
        let counts = Self.limited(depths)
        depths.removeLast()
        self.counts = counts.dropFirst().map { UInt8($0) }
        let used = depths.indices.filter { depths[$0] > 0 }
        symbols = used.sorted { (depths[$0], $0) < (depths[$1], $1) }.map { UInt8($0) }
    }

    /// Each symbol with its code, and how long that is (T.81 C.2).
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

    /// How deep each symbol lies in Huffman's tree, and a 257th that occurs once: the two rarest become one, again and again.
    private static func depths(_ frequencies: Span<UInt32>) -> [Int] {
        let unused = frequencies.count
        var heap = RarestFirst()
        for symbol in 0..<unused where frequencies[symbol] > 0 {
            heap.insert(RarestFirst.Tree(frequency: Int(frequencies[symbol]), symbol: symbol))
        }
        heap.insert(RarestFirst.Tree(frequency: 1, symbol: unused))
        var depths = [Int](repeating: 0, count: unused + 1)
        // The symbols of each tree are a list.
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
        while let rarest = heap.removeFirst(), let second = heap.removeFirst() {
            next[deepen(rarest.symbol)] = second.symbol
            _ = deepen(second.symbol)
            heap.insert(
                RarestFirst.Tree(frequency: rarest.frequency + second.frequency, symbol: rarest.symbol))
        }
        return depths
    }

    /// How many codes there are to be of each length: codes longer than 16 bits are shortened in pairs, the first going where
    /// its prefix is, the other beside a shorter one (T.81 K.2, figure K.3).
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

/// A heap of trees, the rarest first; of equally rare ones that whose symbol is the greatest.
private struct RarestFirst {
    struct Tree {
        var frequency: Int
        var symbol: Int

        static func < (one: Tree, other: Tree) -> Bool {
            one.frequency != other.frequency ? one.frequency < other.frequency : one.symbol > other.symbol
        }
    }

    private var trees: [Tree] = []

    mutating func insert(_ tree: Tree) {
        var place = trees.count
        trees.append(tree)
        while place > 0, tree < trees[(place - 1) / 2] {
            trees[place] = trees[(place - 1) / 2]
            place = (place - 1) / 2
        }
        trees[place] = tree
    }

    mutating func removeFirst() -> Tree? {
        guard let first = trees.first, let last = trees.popLast() else { return nil }
        guard !trees.isEmpty else { return first }
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < trees.count else { break }
            if child + 1 < trees.count, trees[child + 1] < trees[child] { child += 1 }
            guard trees[child] < last else { break }
            trees[place] = trees[child]
            place = child
        }
        trees[place] = last
        return first
    }
}
