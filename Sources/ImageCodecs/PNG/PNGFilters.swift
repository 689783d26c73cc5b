/// Reverses the filters of PNG 9.2, row by row.
struct PNGFilters {
    /// Zeros to the left of each row, so that the first pixel needs no special case, and padding to the right, so that
    /// the last pixel may be stored as four bytes.
    private static let margin = 8

    private let rowBytes: Int
    /// The distance to the same byte of the pixel to the left.
    private let distance: Int
    /// The last row and the row above, after their margins. Above the first row all bytes are 0.
    private var row: [UInt8]
    private var above: [UInt8]

    init(rowBytes: Int, distance: Int) {
        self.rowBytes = rowBytes
        self.distance = distance
        row = [UInt8](repeating: 0, count: Self.margin + rowBytes + Self.margin)
        above = row
    }

    /// Calls `body` with the samples of the next row. `stored` has the filter type and the filtered bytes. False for an
    /// unknown filter type.
    mutating func undo(
        _ stored: Span<UInt8>, _ body: (Span<UInt8>) -> Void
    ) -> Bool {
        // The row moves out while it is written, because both rows cannot be borrowed together.
        var current = above
        above = row
        row = []
        let filtered = stored.extracting(1..<1 &+ rowBytes)
        let isKnown = Self.undo(stored[0], filtered, above.span, into: &current, distance)
        row = current
        guard isKnown else { return false }
        body(row.span.extracting(Self.margin..<Self.margin &+ rowBytes))
        return true
    }

    private static func undo(
        _ filter: UInt8, _ filtered: Span<UInt8>, _ above: Span<UInt8>, into row: inout [UInt8],
        _ distance: Int
    ) -> Bool {
        var output = row.mutableSpan
        // The bytes of a pixel do not depend on each other. Pixels of more than four are two parts, the second first:
        // its vectors reach into the next pixel.
        let parts = distance > 4 ? [4, 0] : [0]
        switch (filter, distance) {
        case (0, _): copy(filtered, into: &output)
        case (1, 1): addLeft(filtered, into: &output)
        case (1, 3): PNGPixelFilters.addLeft(filtered, into: &output, margin, distance: 3)
        case (1, 4): PNGPixelFilters.addLeft(filtered, into: &output, margin, distance: 4)
        case (1, _):
            for part in parts {
                PNGPixelFilters.addLeft(filtered, into: &output, margin, distance: distance, from: part)
            }
        case (2, _): addAbove(filtered, above, into: &output)
        case (3, 1): addMean(filtered, above, into: &output)
        case (3, 3): PNGPixelFilters.addMean(filtered, above, into: &output, margin, distance: 3)
        case (3, 4): PNGPixelFilters.addMean(filtered, above, into: &output, margin, distance: 4)
        case (3, _):
            for part in parts {
                PNGPixelFilters.addMean(
                    filtered, above, into: &output, margin, distance: distance, from: part)
            }
        case (4, 1): addPaeth(filtered, above, into: &output)
        case (4, 3): PNGPixelFilters.addPaeth(filtered, above, into: &output, margin, distance: 3)
        case (4, 4): PNGPixelFilters.addPaeth(filtered, above, into: &output, margin, distance: 4)
        case (4, _):
            for part in parts {
                PNGPixelFilters.addPaeth(
                    filtered, above, into: &output, margin, distance: distance, from: part)
            }
        default: return false
        }
        return true
    }

    private static func copy(_ filtered: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        for index in 0..<filtered.count { output[margin &+ index] = filtered[index] }
    }

    private static func addLeft(_ filtered: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        for index in 0..<filtered.count {
            let position = margin &+ index
            output[position] = filtered[index] &+ output[position &- 1]
        }
    }

    private static func addAbove(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) {
        var index = 0
        while index &+ 8 <= filtered.count {
            output.store(
                filtered.vector8(at: index) &+ above.vector8(at: margin &+ index), at: margin &+ index)
            index &+= 8
        }
        while index < filtered.count {
            output[margin &+ index] = filtered[index] &+ above[margin &+ index]
            index &+= 1
        }
    }

    private static func addMean(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) {
        for index in 0..<filtered.count {
            let position = margin &+ index
            let mean = (UInt16(output[position &- 1]) &+ UInt16(above[position])) &>> 1
            output[position] = filtered[index] &+ UInt8(truncatingIfNeeded: mean)
        }
    }

    /// PNG 9.4: the neighbour nearest to left + up - corner; on a tie left, then up.
    private static func addPaeth(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) {
        for index in 0..<filtered.count {
            let position = margin &+ index
            let left = Int(output[position &- 1])
            let up = Int(above[position])
            let corner = Int(above[position &- 1])
            let toLeft = abs(up &- corner)
            let toUp = abs(left &- corner)
            let toCorner = abs(left &+ up &- corner &- corner)
            let nearer = toLeft <= toUp ? left : up
            let nearest = min(toLeft, toUp) <= toCorner ? nearer : corner
            output[position] = filtered[index] &+ UInt8(truncatingIfNeeded: nearest)
        }
    }
}

/// Reverses the filters of PNG 9.2 for pixels of two bytes and more: four bytes at once, which depend on the pixel to the
/// left but not on each other. Rows begin after `margin` bytes. Of a pixel of `distance` bytes the four from `first` are
/// meant; what a vector has beyond the pixel belongs to the next one, and is overwritten.
enum PNGPixelFilters {
    private typealias Lanes = SIMD4<Int16>

    @inline(__always)
    fileprivate static func addLeft(
        _ filtered: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ margin: Int, distance: Int,
        from first: Int = 0
    ) {
        var left = SIMD4<UInt8>()
        var index = first
        while index < filtered.count {
            left &+= stored(filtered, at: index)
            output.store(left, at: margin &+ index)
            index &+= distance
        }
    }

    @inline(__always)
    fileprivate static func addMean(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ margin: Int,
        distance: Int, from first: Int = 0
    ) {
        var left = Lanes()
        var index = first
        while index < filtered.count {
            let mean = (left &+ Lanes(truncatingIfNeeded: above.vector4(at: margin &+ index))) &>> 1
            let pixel = stored(filtered, at: index) &+ SIMD4<UInt8>(truncatingIfNeeded: mean)
            output.store(pixel, at: margin &+ index)
            left = Lanes(truncatingIfNeeded: pixel)
            index &+= distance
        }
    }

    /// PNG 9.4, with the choice made by masks from signs.
    @inline(__always)
    fileprivate static func addPaeth(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ margin: Int,
        distance: Int, from first: Int = 0
    ) {
        var left = Lanes()
        var corner = Lanes()
        var index = first
        while index < filtered.count {
            let up = widened(above.vector4(at: margin &+ index))
            let across = up &- corner
            let down = left &- corner
            let both = across &+ down
            let (toLeft, toUp, toCorner) = (magnitude(across), magnitude(down), magnitude(both))
            let (upNearer, cornerOverLeft, cornerOverUp) = (
                toUp &- toLeft, toCorner &- toLeft, toCorner &- toUp
            )
            let nearest = lanes {
                let nearer = left[$0] ^ ((left[$0] ^ up[$0]) & upNearer[$0] &>> 15)
                return nearer ^ ((nearer ^ corner[$0]) & (cornerOverLeft[$0] & cornerOverUp[$0]) &>> 15)
            }
            let pixel = stored(filtered, at: index) &+ SIMD4<UInt8>(truncatingIfNeeded: nearest)
            output.store(pixel, at: margin &+ index)
            left = widened(pixel)
            corner = up
            index &+= distance
        }
    }

    /// Four bytes of a row, or as many as it still has.
    @inline(__always)
    private static func stored(_ filtered: Span<UInt8>, at index: Int) -> SIMD4<UInt8> {
        if index &+ 4 <= filtered.count { return filtered.vector4(at: index) }
        var last = SIMD4<UInt8>()
        for lane in 0..<filtered.count &- index { last[lane] = filtered[index &+ lane] }
        return last
    }

    @inline(__always)
    private static func magnitude(_ value: Lanes) -> Lanes {
        lanes {
            let sign = value[$0] &>> 15
            return (value[$0] ^ sign) &- sign
        }
    }

    @inline(__always)
    private static func lanes(_ lane: (Int) -> Int16) -> Lanes { Lanes(lane(0), lane(1), lane(2), lane(3)) }

    @inline(__always)
    private static func widened(_ vector: SIMD4<UInt8>) -> Lanes {
        lanes { Int16(truncatingIfNeeded: vector[$0]) }
    }
}
