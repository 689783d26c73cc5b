/// Undoes the filters of PNG 9.2, in place: each row's first byte names the filter, the bytes after it become
/// the samples.
enum PNGFilters {
    /// - Parameters:
    ///   - start: where the row's filter byte stands; the row above stands `rowBytes + 1` bytes ahead of it.
    ///   - distance: from a byte to the same byte of the pixel to the left.
    static func undo(
        in rows: inout MutableSpan<UInt8>, rowAt start: Int, rowBytes: Int, distance: Int, isFirst: Bool
    ) -> Bool {
        let first = start &+ 1
        let end = first &+ rowBytes
        let above = isFirst ? 0 : rowBytes &+ 1
        switch rows[start] {
        case 0: return true
        case 1: addLeft(&rows, first, end, distance)
        case 2: if !isFirst { addAbove(&rows, first, end, above) }
        case 3: addMean(&rows, first, end, distance, above: above)
        // Above the first row all is nought, and Paeth's prediction from the left alone is the left.
        case 4:
            isFirst
                ? addLeft(&rows, first, end, distance) : addPaeth(&rows, first, end, distance, above: above)
        default: return false
        }
        return true
    }

    private static func addLeft(_ rows: inout MutableSpan<UInt8>, _ first: Int, _ end: Int, _ distance: Int) {
        var index = first &+ distance
        while index < end {
            rows[index] &+= rows[index &- distance]
            index &+= 1
        }
    }

    private static func addAbove(_ rows: inout MutableSpan<UInt8>, _ first: Int, _ end: Int, _ above: Int) {
        var index = first
        while index < end {
            rows[index] &+= rows[index &- above]
            index &+= 1
        }
    }

    private static func addMean(
        _ rows: inout MutableSpan<UInt8>, _ first: Int, _ end: Int, _ distance: Int, above: Int
    ) {
        var index = first
        while index < end {
            let left = index &- distance >= first ? Int(rows[index &- distance]) : 0
            let up = above > 0 ? Int(rows[index &- above]) : 0
            rows[index] &+= UInt8(truncatingIfNeeded: (left &+ up) &>> 1)
            index &+= 1
        }
    }

    private static func addPaeth(
        _ rows: inout MutableSpan<UInt8>, _ first: Int, _ end: Int, _ distance: Int, above: Int
    ) {
        var index = first
        while index < min(first &+ distance, end) {
            rows[index] &+= rows[index &- above]
            index &+= 1
        }
        while index < end {
            let left = Int(rows[index &- distance])
            let up = Int(rows[index &- above])
            let corner = Int(rows[index &- above &- distance])
            rows[index] &+= UInt8(truncatingIfNeeded: paeth(left, up, corner))
            index &+= 1
        }
    }

    /// The neighbour nearest to left + up - corner; of equals the left, then the one above (PNG 9.4).
    @inline(__always)
    private static func paeth(_ left: Int, _ up: Int, _ corner: Int) -> Int {
        let toLeft = abs(up &- corner)
        let toUp = abs(left &- corner)
        let toCorner = abs(left &+ up &- corner &- corner)
        let nearer = toLeft <= toUp ? left : up
        return min(toLeft, toUp) <= toCorner ? nearer : corner
    }
}
