import Foundation
import SystemSupport

/// Makes traces of uses, identical in every run and not recorded from anybody.
struct TraceMaker {
    private(set) var uses: [Int] = []
    private var numbers: SeededNumbers
    /// The next unused key.
    private(set) var freshKey: Int

    /// - Parameter freshKey: `useFresh` uses the keys from this one on.
    init(seed: UInt64, freshKey: Int = 1_000_000) {
        numbers = SeededNumbers(seed: seed)
        self.freshKey = freshKey
    }

    mutating func below(_ limit: Int) -> Int { numbers.below(limit) }

    /// From 0 up to, but not including, 1.
    mutating func fraction() -> Double { Double(numbers.next() >> 11) * 0x1p-53 }

    mutating func use(_ key: Int) { uses.append(key) }

    /// Uses a new key once.
    mutating func useFresh() {
        use(freshKey)
        freshKey += 1
    }

    mutating func use(_ keys: some Sequence<Int>) { for key in keys { use(key) } }
}

/// Ranks from 0 on. Rank n is drawn with a frequency proportional to 1/(n+1)^skew.
struct Zipf {
    private let sums: [Double]

    init(count: Int, skew: Double) {
        var sum = 0.0
        sums = (1...count).map { rank in
            sum += pow(Double(rank), -skew)
            return sum
        }
    }

    func draw(_ maker: inout TraceMaker) -> Int {
        let wanted = maker.fraction() * (sums.last ?? 0)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] <= wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A trace whose keys are numbered from 0 in the order of their first use.
struct NumberedTrace {
    private(set) var uses: [Int] = []
    private(set) var keyCount = 0

    init(_ keys: some Sequence<Int>) { number(keys) }

    /// Reads a file: one key on each line, of any text; or 32-bit little-endian integers.
    init(file path: String, isBinary: Bool) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        if isBinary {
            let count = data.count / 4
            number(
                (0..<count).lazy.map { index in
                    (0..<4).reduce(0) { $0 | Int(data[data.startIndex + 4 * index + $1]) << (8 * $1) }
                })
        } else {
            number(
                data.split(separator: UInt8(ascii: "\n")).lazy.map { line in
                    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
                })
        }
    }

    private mutating func number<Key: Hashable>(_ keys: some Sequence<Key>) {
        var numbers: [Key: Int] = [:]
        for key in keys {
            let number = numbers[key] ?? numbers.count
            if number == numbers.count { numbers[key] = number }
            uses.append(number)
        }
        keyCount = numbers.count
    }
}
