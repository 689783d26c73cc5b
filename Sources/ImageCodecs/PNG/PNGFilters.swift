/// Undoes the filters of PNG 9.2, a row at a time.
struct PNGFilters {
    /// Nought to the left of each row, so that its first pixel is a pixel like any other.
    private static let margin = 8

    private let rowBytes: Int
    /// From a byte to the same byte of the pixel to its left.
    private let distance: Int
    /// The last row and the one above it, behind their margins. Above the first row all is nought.
    private var row: [UInt8]
    private var above: [UInt8]

    init(rowBytes: Int, distance: Int) {
        self.rowBytes = rowBytes
        self.distance = distance
        row = [UInt8](repeating: 0, count: Self.margin + rowBytes)
        above = row
    }

    /// Calls `body` with the samples of the next row, given as stored: the filter's number, then so many bytes.
    /// False where there is no such filter.
    mutating func undo(
        _ stored: Span<UInt8>, _ body: (Span<UInt8>) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) -> Bool {
        // The row moves out while it is written, since it and the one above may not be borrowed together otherwise.
        var current = above
        above = row
        row = []
        let filtered = stored.extracting(1..<1 &+ rowBytes)
        let isKnown = Self.undo(stored[0], filtered, above.span, into: &current, distance)
        row = current
        guard isKnown else { return false }
        try body(row.span.extracting(Self.margin..<Self.margin &+ rowBytes))
        return true
    }

    private static func undo(
        _ filter: UInt8, _ filtered: Span<UInt8>, _ above: Span<UInt8>, into row: inout [UInt8],
        _ distance: Int
    ) -> Bool {
        var output = row.mutableSpan
        switch (filter, distance) {
        case (0, _): copy(filtered, into: &output)
        case (1, _): addLeft(filtered, into: &output, distance)
        case (2, _): addAbove(filtered, above, into: &output)
        case (3, _): addMean(filtered, above, into: &output, distance)
        case (4, 3): addPaethPixels(filtered, above, into: &output, channels: 3)
        case (4, 4): addPaethPixels(filtered, above, into: &output, channels: 4)
        case (4, _): addPaeth(filtered, above, into: &output, distance)
        default: return false
        }
        return true
    }

    private static func copy(_ filtered: Span<UInt8>, into output: inout MutableSpan<UInt8>) {
        for index in 0..<filtered.count { output[margin &+ index] = filtered[index] }
    }

    private static func addLeft(
        _ filtered: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ distance: Int
    ) {
        for index in 0..<filtered.count {
            let place = margin &+ index
            output[place] = filtered[index] &+ output[place &- distance]
        }
    }

    private static func addAbove(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>
    ) {
        for index in 0..<filtered.count {
            output[margin &+ index] = filtered[index] &+ above[margin &+ index]
        }
    }

    private static func addMean(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ distance: Int
    ) {
        for index in 0..<filtered.count {
            let place = margin &+ index
            let mean = (UInt16(output[place &- distance]) &+ UInt16(above[place])) &>> 1
            output[place] = filtered[index] &+ UInt8(truncatingIfNeeded: mean)
        }
    }

    /// PNG 9.4: the neighbour nearest to left + up - corner; of equals the left, then the one above.
    private static func addPaeth(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ distance: Int
    ) {
        for index in 0..<filtered.count {
            let place = margin &+ index
            let left = Int(output[place &- distance])
            let up = Int(above[place])
            let corner = Int(above[place &- distance])
            let toLeft = abs(up &- corner)
            let toUp = abs(left &- corner)
            let toCorner = abs(left &+ up &- corner &- corner)
            let nearer = toLeft <= toUp ? left : up
            let nearest = min(toLeft, toUp) <= toCorner ? nearer : corner
            output[place] = filtered[index] &+ UInt8(truncatingIfNeeded: nearest)
        }
    }

    /// As `addPaeth`, all channels of a pixel at once, which depend on the pixel to the left but not on each other.
    /// What is chosen is chosen by masks made of signs.
    @inline(__always)
    private static func addPaethPixels(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>, channels: Int
    ) {
        var left = SIMD4<Int16>()
        var corner = SIMD4<Int16>()
        var index = 0
        while index &+ channels <= filtered.count {
            let up = pixel(above, at: margin &+ index, channels)
            let toLeft = magnitude(up &- corner)
            let toUp = magnitude(left &- corner)
            let toCorner = magnitude(left &+ up &- corner &- corner)
            let isUpNearer = (toUp &- toLeft) &>> 15
            let nearer = (left & ~isUpNearer) | (up & isUpNearer)
            let toNearer = (toLeft & ~isUpNearer) | (toUp & isUpNearer)
            let isCornerNearest = (toCorner &- toNearer) &>> 15
            let nearest = (nearer & ~isCornerNearest) | (corner & isCornerNearest)
            left = (pixel(filtered, at: index, channels) &+ nearest) & 255
            corner = up
            for channel in 0..<channels {
                output[margin &+ index &+ channel] = UInt8(truncatingIfNeeded: left[channel])
            }
            index &+= channels
        }
    }

    @inline(__always)
    private static func pixel(_ row: Span<UInt8>, at start: Int, _ channels: Int) -> SIMD4<Int16> {
        let bytes = row.extracting(start..<start &+ channels)
        let last = channels == 4 ? Int16(bytes[channels &- 1]) : 0
        return SIMD4(Int16(bytes[0]), Int16(bytes[1]), Int16(bytes[2]), last)
    }

    @inline(__always)
    private static func magnitude(_ value: SIMD4<Int16>) -> SIMD4<Int16> {
        let sign = value &>> 15
        return (value ^ sign) &- sign
    }
}
