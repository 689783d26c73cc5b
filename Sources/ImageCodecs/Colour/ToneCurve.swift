#if canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A curve from 0...1 to 0...1, of one channel.
enum ToneCurve {
    /// Levels at equal distances.
    case table([Float])
    /// A function of a type from 0 to 4, with seven numbers g, a, b, c, d, e, f (ICC.1:2022, 10.18).
    case function(UInt8, [Float])

    /// `x` to the power of `gamma`.
    init(gamma: Float) { self = .function(0, [gamma, 1, 0, 0, 0, 0, 0]) }

    /// IEC 61966-2-1, from a level to linear light.
    static let sRGB = ToneCurve.function(3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045, 0, 0])

    /// Reads a `curv` (10.6) or a `para` (10.18), and says how many bytes it has; nil for a damaged one.
    ///
    ///     63 75 72 76  00 00 00 00  00 00 00 01  02 33    "curv", reserved, 1 number: gamma 2.2
    ///     70 61 72 61  00 00 00 00  00 03  00 00  ...     "para", reserved, type 3, reserved, 5 numbers
    init?(reading bytes: Span<UInt8>, length: inout Int) {
        if bytes.hasBytes("curv") {
            guard let count = bytes.bigEndian32(at: 8), count <= 65_536 else { return nil }
            length = 12 + count * 2
            switch count {
            case 0: self.init(gamma: 1)
            case 1:
                guard let gamma = bytes.bigEndian16(at: 12) else { return nil }
                self.init(gamma: Float(gamma) / 256)
            default:
                guard let levels = bytes.levels(count, ofBytes: 2, at: 12) else { return nil }
                self = .table(levels)
            }
            return
        }
        let counts = [1, 3, 4, 5, 7]
        guard bytes.hasBytes("para"), let type = bytes.bigEndian16(at: 8), counts.indices.contains(type),
            var numbers = bytes.fixedPoints(counts[type], at: 12)
        else { return nil }
        length = 12 + counts[type] * 4
        if type == 0 { numbers += [1, 0] }
        // In types 1 and 2 the line begins where the power's base is 0.
        if (1...2).contains(type), numbers[1] == 0 { return nil }
        numbers += Array(repeating: 0, count: 7 - numbers.count)
        self = .function(UInt8(type), numbers)
    }

    init?(_ bytes: Span<UInt8>) {
        var length = 0
        self.init(reading: bytes, length: &length)
    }

    /// The level at `x`, which is from 0 to 1.
    func value(at x: Float) -> Float {
        switch self {
        case .table(let levels):
            let place = x * Float(levels.count - 1)
            let index = min(Int(place), levels.count - 2)
            return levels[index] + (levels[index + 1] - levels[index]) * (place - Float(index))
        case .function(let type, let numbers):
            let (g, a, b, c) = (numbers[0], numbers[1], numbers[2], numbers[3])
            let power = powf(max(a * x + b, 0), g)
            let level =
                switch type {
                case 0: powf(x, g)
                case 1: x >= -b / a ? power : 0
                case 2: (x >= -b / a ? power : 0) + c
                case 3: x >= numbers[4] ? power : c * x
                default: x >= numbers[4] ? power + numbers[5] : c * x + numbers[6]
                }
            return level.isFinite ? min(max(level, 0), 1) : 0
        }
    }
}

extension Span<UInt8> {
    /// Numbers of one or two bytes, as 0 to 1; nil past the end.
    func levels(_ count: Int, ofBytes width: Int, at offset: Int) -> [Float]? {
        guard offset >= 0, count > 0, offset + count * width <= self.count else { return nil }
        var levels: [Float] = []
        levels.reserveCapacity(count)
        for place in stride(from: offset, to: offset + count * width, by: width) {
            levels.append(
                width == 1
                    ? Float(self[place]) / 255 : Float(Int(self[place]) << 8 | Int(self[place + 1])) / 65_535)
        }
        return levels
    }

    /// Signed numbers with 16 bits behind the point (ICC.1:2022, 4.6); nil past the end.
    func fixedPoints(_ count: Int, at offset: Int) -> [Float]? {
        var numbers: [Float] = []
        for index in 0..<count {
            guard let bits = bigEndian32(at: offset + index * 4) else { return nil }
            numbers.append(Float(Int32(truncatingIfNeeded: bits)) / 65_536)
        }
        return numbers
    }
}
