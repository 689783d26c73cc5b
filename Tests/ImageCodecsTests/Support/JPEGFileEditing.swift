/// Finds and removes segments of valid JPEG files.
enum JPEGFileEditing {
    /// The offset of the frame header's marker. It is followed by length, precision, height, width, the
    /// number of components (at 9), and three bytes each, whose second has the sampling factors (at 11).
    static func frameHeader(of file: [UInt8]) -> Int? {
        segments(of: file).first { (0xC0...0xC2).contains(file[$0.lowerBound + 1]) }?.lowerBound
    }

    /// The file without its segments of this marker.
    static func removing(_ marker: UInt8, from file: [UInt8]) -> [UInt8] {
        var rest = file
        for segment in segments(of: file).reversed() where file[segment.lowerBound + 1] == marker {
            rest.removeSubrange(segment)
        }
        return rest
    }

    /// The file cut in the middle of each scan's data, with an end marker.
    static func cutInEachScan(_ file: [UInt8]) -> [[UInt8]] {
        let segments = segments(of: file)
        let ends = segments.dropFirst().map(\.lowerBound) + [file.count - 2]
        return zip(segments, ends).filter { file[$0.0.lowerBound + 1] == 0xDA }.map { segment, end in
            Array(file.prefix((segment.upperBound + end) / 2)) + [0xFF, 0xD9]
        }
    }

    /// All segments with parameters, also those between and after scans.
    private static func segments(of file: [UInt8]) -> [Range<Int>] {
        var segments: [Range<Int>] = []
        var offset = 2
        while offset + 3 < file.count {
            let marker = file[offset + 1]
            // Entropy-coded data includes stuffed zeros and restart markers.
            guard file[offset] == 0xFF, marker != 0, marker != 0xFF, !(0xD0...0xD9).contains(marker) else {
                offset += 1
                continue
            }
            let end = offset + 2 + Int(file[offset + 2]) << 8 + Int(file[offset + 3])
            segments.append(offset..<end)
            offset = end
        }
        return segments
    }
}
