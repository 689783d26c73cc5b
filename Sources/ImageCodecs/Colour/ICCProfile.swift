/// A colour profile of a file (ICC.1:2022, and version 2, ICC.1:2001-04): how the file's colours become those of the
/// profile connection space, relative to the medium.
///
///     00 00 02 18  ...  04 00 00 00    size, program, version 4
///     6D 6E 74 72  52 47 42 20         "mntr": of a screen; "RGB ": the colours of the file
///     58 59 5A 20  ...  61 63 73 70    "XYZ ": the connection space; at 36 "acsp"
///     00 00 00 09                      at 128 the number of tags, then for each:
///     72 58 59 5A  00 00 00 F0  00 00 00 14   "rXYZ", offset, size
///
/// All numbers are big-endian. A profile that is damaged or too large is none.
struct ICCProfile {
    /// The colours of a file.
    enum Space: Equatable {
        case grey, rgb, cmyk

        var channels: Int {
            switch self {
            case .grey: 1
            case .rgb: 3
            case .cmyk: 4
            }
        }
    }

    let space: Space
    /// The steps from a colour of the file, each channel from 0 to 1, to `connection`.
    private let steps: [Step]
    private let connection: Connection

    /// One step. Each has three channels at its end.
    private enum Step {
        case curves([ToneCurve])
        case matrix(ColourMatrix)
        case grid(ColourGrid)
    }

    /// What the last step gives.
    private enum Connection: Equatable {
        /// XYZ, where 1 is the luminance of white.
        case xyz
        /// XYZ from 0 to 1 + 32767/32768, as 0 to 1.
        case encodedXYZ
        /// L* from 0 to 100, a* and b* from -128 to 127, as 0 to 1; or in version 2's encoding with 16 bits, where the
        /// last 255 values are past that.
        case lab(scale: Float)
    }

    private static let mostBytes = 4 << 20
    private static let mostTags = 100

    /// Nil for a damaged profile, another kind of profile, and another space than `space`, or grey or RGB for an image in
    /// grey.
    init?(_ bytes: Span<UInt8>, for space: Space) {
        guard bytes.count >= 132, bytes.count <= Self.mostBytes, bytes.hasBytes("acsp", at: 36),
            let version = bytes.byte(at: 8), (2...4).contains(version),
            ["scnr", "mntr", "prtr", "spac"].contains(where: { bytes.hasBytes($0, at: 12) })
        else { return nil }
        let spaces: [(MagicNumber, Space)] = [("GRAY", .grey), ("RGB ", .rgb), ("CMYK", .cmyk)]
        guard let own = spaces.first(where: { bytes.hasBytes($0.0, at: 16) })?.1,
            own == space || space == .grey && own == .rgb
        else { return nil }
        self.space = own
        let isLab = bytes.hasBytes("Lab ", at: 20)
        guard isLab || bytes.hasBytes("XYZ ", at: 20), let tags = ICCTags(bytes, atMost: Self.mostTags) else {
            return nil
        }
        // Tables for the relative intent go first, then those for the perceptual one, which every profile has.
        if let table = tags["A2B1"] ?? tags["A2B0"] {
            guard let steps = Self.steps(ofTable: bytes.extracting(table), own.channels) else { return nil }
            self.steps = steps
            let is16BitTable = bytes.hasBytes("mft2", at: table.lowerBound)
            connection = isLab ? .lab(scale: is16BitTable ? 65_535 / 65_280 : 1) : .encodedXYZ
            return
        }
        switch own {
        case .grey:
            guard let curve = tags["kTRC"].flatMap({ ToneCurve(bytes.extracting($0)) }) else { return nil }
            // The one channel is the luminance of white, or L* without a colour.
            steps = [
                .curves([curve]),
                .matrix(
                    isLab
                        ? ColourMatrix(
                            [[1, 0, 0], [0, 0, 0], [0, 0, 0]], offset: [0, 128 / 255, 128 / 255])
                        : ColourMatrix(ColourMatrix.white.map { [$0, 0, 0] })),
            ]
            connection = isLab ? .lab(scale: 1) : .xyz
        case .rgb:
            let curves = (["rTRC", "gTRC", "bTRC"] as [MagicNumber]).compactMap { name in
                tags[name].flatMap { ToneCurve(bytes.extracting($0)) }
            }
            let colorants = (["rXYZ", "gXYZ", "bXYZ"] as [MagicNumber]).compactMap { name in
                tags[name].flatMap { bytes.extracting($0).fixedPoints(3, at: 8) }
            }
            guard curves.count == 3, colorants.count == 3, !isLab else { return nil }
            steps = [
                .curves(curves), .matrix(ColourMatrix((0..<3).map { row in colorants.map { $0[row] } })),
            ]
            connection = .xyz
        case .cmyk: return nil
        }
    }

    /// The curves and the matrix to XYZ of a profile that has nothing else: colours can then be converted without a
    /// table.
    var matrixShaper: (curves: [ToneCurve], toXYZ: ColourMatrix)? {
        guard space == .rgb, connection == .xyz, steps.count == 2, case .curves(let curves) = steps[0],
            case .matrix(let matrix) = steps[1]
        else { return nil }
        return (curves, matrix)
    }

    /// The XYZ, relative to a white of D50, of a colour of the file.
    func xyz(of colour: SIMD4<Float>) -> SIMD4<Float> {
        var value = colour
        for step in steps {
            value.clamp(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 1))
            switch step {
            case .curves(let curves):
                for channel in curves.indices { value[channel] = curves[channel].value(at: value[channel]) }
            case .matrix(let matrix): value = matrix.apply(to: value)
            case .grid(let grid): value = grid.value(at: value)
            }
        }
        switch connection {
        case .xyz: return value
        case .encodedXYZ: return value * (65_535 / 32_768)
        case .lab(let scale):
            let isNew = scale == 1
            let colour = SIMD4(
                value.x * 100 * scale, value.y * (isNew ? 255 : 65_535 / 256) - 128,
                value.z * (isNew ? 255 : 65_535 / 256) - 128, 0)
            return Self.xyz(ofLab: colour)
        }
    }

    /// CIE 15:2004, 8.2.1.1, backwards.
    private static func xyz(ofLab lab: SIMD4<Float>) -> SIMD4<Float> {
        let y = (lab.x + 16) / 116
        let levels = [y + lab.y / 500, y, y - lab.z / 200]
        var xyz = SIMD4<Float>()
        for channel in 0..<3 {
            let level = levels[channel]
            let linear = level > 6 / 29 ? level * level * level : (level - 16 / 116) * (108 / 841)
            xyz[channel] = linear * ColourMatrix.white[channel]
        }
        return xyz
    }
}

// MARK: Tables

extension ICCProfile {
    /// The steps of a table: `mft1` with 8 bits (10.11), `mft2` with 16 (10.10), or `mAB ` (10.12).
    private static func steps(ofTable bytes: Span<UInt8>, _ channels: Int) -> [Step]? {
        guard bytes.count >= 32, Int(bytes[8]) == channels, bytes[9] == 3 else { return nil }
        if bytes.hasBytes("mAB ") { return stepsOfMAB(bytes, channels) }
        let isWide = bytes.hasBytes("mft2")
        guard isWide || bytes.hasBytes("mft1") else { return nil }
        let width = isWide ? 2 : 1
        let inputs = isWide ? bytes.bigEndian16(at: 48) ?? 0 : 256
        let outputs = isWide ? bytes.bigEndian16(at: 50) ?? 0 : 256
        guard (2...4096).contains(inputs), (2...4096).contains(outputs) else { return nil }
        var offset = isWide ? 52 : 48
        func curves(_ count: Int, _ entries: Int) -> Step? {
            let curves = (0..<count).compactMap { index in
                bytes.levels(entries, ofBytes: width, at: offset + index * entries * width).map {
                    ToneCurve.table($0)
                }
            }
            offset += count * entries * width
            return curves.count == count ? .curves(curves) : nil
        }
        guard let before = curves(channels, inputs) else { return nil }
        let sides = Array(repeating: Int(bytes[10]), count: channels)
        guard let grid = grid(sides, width, bytes, at: offset) else { return nil }
        offset += grid.bytes
        guard let after = curves(3, outputs) else { return nil }
        return [before, .grid(grid.grid), after]
    }

    /// Curves A, grid, curves M, matrix, curves B; all but B may be missing, and A has a grid, M a matrix.
    private static func stepsOfMAB(_ bytes: Span<UInt8>, _ channels: Int) -> [Step]? {
        func curves(at place: Int, _ count: Int) -> Step? {
            guard var offset = bytes.bigEndian32(at: place), offset >= 32 else { return nil }
            var curves: [ToneCurve] = []
            for _ in 0..<count {
                var length = 0
                guard offset <= bytes.count,
                    let curve = ToneCurve(reading: bytes.extracting(offset..<bytes.count), length: &length)
                else { return nil }
                curves.append(curve)
                offset += (length + 3) & ~3
            }
            return .curves(curves)
        }
        var steps: [Step] = []
        if let start = bytes.bigEndian32(at: 24), start > 0 {
            var sides: [Int] = []
            for channel in 0..<channels { sides.append(Int(bytes.byte(at: start + channel) ?? 0)) }
            guard let before = curves(at: 28, channels), let width = bytes.byte(at: start + 16),
                (1...2).contains(width),
                let grid = grid(sides, Int(width), bytes, at: start + 20)
            else { return nil }
            steps += [before, .grid(grid.grid)]
        } else if channels != 3 {
            return nil
        }
        if let start = bytes.bigEndian32(at: 16), start > 0 {
            guard let before = curves(at: 20, 3), let numbers = bytes.fixedPoints(12, at: start) else {
                return nil
            }
            let rows = (0..<3).map { Array(numbers[$0 * 3..<$0 * 3 + 3]) }
            steps += [before, .matrix(ColourMatrix(rows, offset: Array(numbers[9...])))]
        }
        guard let after = curves(at: 12, 3) else { return nil }
        return steps + [after]
    }

    /// The most values of a grid: a table of CMYK with 26 points a side has fewer.
    private static let mostValues = 1_500_000

    private static func grid(
        _ sides: [Int], _ width: Int, _ bytes: Span<UInt8>, at offset: Int
    ) -> (grid: ColourGrid, bytes: Int)? {
        guard sides.allSatisfy({ $0 >= 2 }) else { return nil }
        // Four sides are at most 255 each: the product fits into 64 bits.
        let count = sides.reduce(3, *)
        guard count <= mostValues, let levels = bytes.levels(count, ofBytes: width, at: offset) else {
            return nil
        }
        return (ColourGrid(sides: sides, levels: levels), count * width)
    }
}

/// Where the tags of a profile lie. Some may share their data.
private struct ICCTags {
    private var places: [Int: Range<Int>] = [:]

    /// Nil if there are too many, or one lies outside the profile.
    init?(_ bytes: Span<UInt8>, atMost most: Int) {
        guard let count = bytes.bigEndian32(at: 128), count <= most else { return nil }
        for index in 0..<count {
            let entry = 132 + index * 12
            guard let name = bytes.bigEndian32(at: entry), let offset = bytes.bigEndian32(at: entry + 4),
                let size = bytes.bigEndian32(at: entry + 8), offset + size <= bytes.count
            else { return nil }
            places[name] = places[name] ?? offset..<offset + size
        }
    }

    subscript(name: MagicNumber) -> Range<Int>? {
        var key = 0
        for index in 0..<4 { key = key << 8 | Int(name[index]) }
        return places[key]
    }
}
