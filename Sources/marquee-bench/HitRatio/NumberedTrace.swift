import Foundation

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
