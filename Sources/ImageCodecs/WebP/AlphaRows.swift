/// Decodes the rows of a lossy image's alpha (RFC 9649 section 2.7.1.2):
///
///     0D          2 bits compression, 2 bits filter, 2 bits preprocessing, which only tells what an encoder did
///     ...         a byte for each pixel, or a VP8L stream whose green they are
struct AlphaRows {
    private let filter: Filter
    /// The bytes of the file, without the first; for an uncompressed plane the next row begins the range.
    private var data: Range<Int>
    private var lossless: LosslessRows?
    private var rowsRead = 0
    /// The alpha of the last row.
    private(set) var row: [UInt8]

    private enum Filter: Int {
        case none, horizontal, vertical, gradient
    }

    init(_ chunk: Range<Int>, of file: Span<UInt8>, size: ImageSize) throws(ImageDecodingError) {
        guard let flags = file.byte(at: chunk.lowerBound), !chunk.isEmpty, flags & 3 < 2,
            let filter = Filter(rawValue: Int(flags) >> 2 & 3)
        else { throw .corrupt(segment: "alpha of a WebP", offset: chunk.lowerBound) }
        self.filter = filter
        data = chunk.lowerBound + 1..<chunk.upperBound
        row = [UInt8](repeating: 0, count: size.width)
        if flags & 3 == 1 {
            lossless = try LosslessRows(alpha: file.extracting(data), origin: data.lowerBound, size: size)
        } else if data.count < size.width * size.height {
            throw .corrupt(segment: "alpha of a WebP", offset: chunk.lowerBound)
        }
    }

    /// Decodes the next row to `row`.
    mutating func readRow(in file: Span<UInt8>) throws(ImageDecodingError) {
        let previous = row
        if lossless != nil {
            try lossless?.readRow(file.extracting(data))
        }
        if let pixels = lossless?.row {
            for column in row.indices { row[column] = UInt8(truncatingIfNeeded: pixels[column] >> 8) }
        } else {
            for column in row.indices { row[column] = file[data.lowerBound + column] }
            data = data.dropFirst(row.count)
        }
        Self.undo(rowsRead == 0 && filter != .none ? .horizontal : filter, above: previous.span, &row)
        rowsRead += 1
    }

    /// The first pixel of a row is predicted from above, and that of the first row from 0.
    private static func undo(_ filter: Filter, above: Span<UInt8>, _ row: inout [UInt8]) {
        var row = row.mutableSpan
        switch filter {
        case .none: return
        case .horizontal:
            var left = above[0]
            for column in 0..<row.count {
                left &+= row[column]
                row[column] = left
            }
        case .vertical:
            for column in 0..<row.count { row[column] &+= above[column] }
        case .gradient:
            var (left, corner) = (above[0], above[0])
            for column in 0..<row.count {
                let sum = Int16(left) &+ Int16(above[column]) &- Int16(corner)
                left = row[column] &+ UInt8(truncatingIfNeeded: min(max(sum, 0), 255))
                corner = above[column]
                row[column] = left
            }
        }
    }
}
