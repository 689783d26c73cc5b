import Foundation
import SystemSupport

/// Makes traces of uses, identical in every run and not recorded from anybody.
struct TraceMaker {
    private(set) var uses: [Int] = []
    private var numbers: SeededNumbers
    /// The next unused key.
    private var freshKey = 1_000_000

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

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

/// A trace of uses, and the cache sizes to try it with.
struct FrozenTrace {
    let name: String
    let capacities: [Int]
    let uses: [Int]

    init(_ name: String, _ capacities: [Int], seed: UInt64 = 1, _ make: (inout TraceMaker) -> Void) {
        self.name = name
        self.capacities = capacities
        var maker = TraceMaker(seed: seed)
        make(&maker)
        uses = maker.uses
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
