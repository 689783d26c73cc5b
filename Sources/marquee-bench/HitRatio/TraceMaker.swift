import Foundation
import SystemSupport

/// Makes traces of uses: the same in every run, and none of them recorded from anybody.
struct TraceMaker {
    private(set) var uses: [Int] = []
    private var numbers: SeededNumbers
    /// The next key that nobody has used yet.
    private(set) var freshKey: Int

    /// - Parameter freshKey: keys from here on are handed out by `useFresh`.
    init(seed: UInt64, freshKey: Int = 1_000_000) {
        numbers = SeededNumbers(seed: seed)
        self.freshKey = freshKey
    }

    mutating func below(_ limit: Int) -> Int { numbers.below(limit) }

    /// From 0 up to 1, without it.
    mutating func fraction() -> Double { Double(numbers.next() >> 11) * 0x1p-53 }

    mutating func use(_ key: Int) { uses.append(key) }

    /// Uses a key once that is never used again.
    mutating func useFresh() {
        use(freshKey)
        freshKey += 1
    }

    mutating func use(_ keys: some Sequence<Int>) { for key in keys { use(key) } }
}

/// Ranks from 0 on, of which the nth is drawn about as often as 1/(n+1)^skew says.
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

/// A trace whose keys are numbered from 0 on in the order in which they come.
struct NumberedTrace {
    private(set) var uses: [Int] = []
    private(set) var keyCount = 0

    init(_ keys: some Sequence<Int>) { number(keys) }

    /// Reads a file: a key a line, whatever its text, or integers of 32 bits, low byte first.
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
