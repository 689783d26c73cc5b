/// Resizes an image row by row by area averaging: each pixel of the result is the mean of the area it covers, with
/// partly covered pixels weighted by their share. It works on the stored (gamma-encoded) values, as terminal viewers
/// do. It computes only the part of the result that the layout keeps.
///
/// All weights are integers: both images are `source * result` units long, so a source pixel spans `result` units, and
/// a result pixel `source` units.
struct AreaAverager {
    private let source: ImageSize
    /// The size of the whole result; `layout` keeps a part of it.
    private let result: ImageSize
    private let layout: PictureLayout
    /// The source columns under the kept part.
    private let sourceColumns: Range<Int>
    /// The sums of each channel of these columns, over the rows of the current result row so far.
    private var sums: [UInt32]
    private var sourceRow = 0
    private var resultRow: Int
    private var pixels: [UInt8]
    /// Whether to weight colours by alpha; otherwise invisible pixels would bleed into edges.
    private let weighsByAlpha: Bool

    init(from source: ImageSize, to layout: PictureLayout, weighingByAlpha: Bool) {
        self.source = source
        self.layout = layout
        result = layout.scaled
        weighsByAlpha = weighingByAlpha
        let first = layout.columns.lowerBound * source.width / result.width
        let end = (layout.columns.upperBound * source.width + result.width - 1) / result.width
        sourceColumns = first..<end
        sums = [UInt32](repeating: 0, count: sourceColumns.count * 4)
        resultRow = layout.rows.lowerBound
        pixels = [UInt8](repeating: 255, count: layout.size.width * layout.size.height * 4)
    }

    /// Whether the kept part covers any of the source's next row.
    var needsNextRow: Bool {
        let start = sourceRow &* result.height
        return start < layout.rows.upperBound &* source.height
            && start &+ result.height > layout.rows.lowerBound &* source.height
    }

    /// Skips a source row that is not needed.
    mutating func skipRow() { sourceRow &+= 1 }

    /// Adds the next source row, as RGBA pixels.
    mutating func add(row whole: Span<UInt8>) {
        let row = whole.extracting(sourceColumns.lowerBound &* 4..<sourceColumns.upperBound &* 4)
        let start = sourceRow &* result.height
        let end = start &+ result.height
        // The first kept row may begin inside this one.
        var position = max(start, resultRow &* source.height)
        sourceRow &+= 1
        while position < end, resultRow < layout.rows.upperBound {
            let resultEnd = (resultRow &+ 1) &* source.height
            let weight = UInt32(truncatingIfNeeded: min(end, resultEnd) &- position)
            if weighsByAlpha {
                accumulateByAlpha(row, weight: weight)
            } else {
                accumulate(row, weight: weight)
            }
            position = min(end, resultEnd)
            if position == resultEnd { finishRow() }
        }
    }

    /// Returns the resized image, after all source rows were added.
    consuming func finish(damage: ImageDecodingError? = nil) -> Bitmap {
        Bitmap(
            width: layout.size.width, height: layout.size.height, pixels: pixels, damage: damage)
    }

    private mutating func accumulate(_ row: Span<UInt8>, weight: UInt32) {
        var sums = sums.mutableSpan
        for index in 0..<min(row.count, sums.count) { sums[index] &+= UInt32(row[index]) &* weight }
    }

    private mutating func accumulateByAlpha(_ row: Span<UInt8>, weight: UInt32) {
        var sums = sums.mutableSpan
        let count = min(row.count, sums.count)
        var index = 0
        while index &+ 4 <= count {
            let alpha = UInt32(row[index &+ 3]) &* weight
            sums[index] &+= UInt32(row[index]) &* alpha
            sums[index &+ 1] &+= UInt32(row[index &+ 1]) &* alpha
            sums[index &+ 2] &+= UInt32(row[index &+ 2]) &* alpha
            sums[index &+ 3] &+= alpha
            index &+= 4
        }
    }

    /// Averages the column sums into one result row, and clears them.
    private mutating func finishRow() {
        let perArea = 1 / (Float(source.width) * Float(source.height))
        let finished = sums
        let columns = finished.span
        sums = [UInt32](repeating: 0, count: finished.count)
        var position = layout.columns.lowerBound &* source.width
        var column = sourceColumns.lowerBound
        var target = (resultRow &- layout.rows.lowerBound) &* layout.columns.count &* 4
        for resultColumn in layout.columns {
            let end = (resultColumn &+ 1) &* source.width
            var total = SIMD4<Float>()
            while position < end {
                let columnEnd = (column &+ 1) &* result.width
                let weight = Float(min(end, columnEnd) &- position)
                total += Self.sum(columns, ofColumn: column &- sourceColumns.lowerBound) * weight
                position = min(end, columnEnd)
                if position == columnEnd { column &+= 1 }
            }
            var mean = total * perArea
            if weighsByAlpha {
                let alpha = total.w
                mean = alpha > 0 ? total / alpha : SIMD4()
                mean.w = alpha * perArea
            }
            Self.store(mean, in: &pixels, at: target)
            target &+= 4
        }
        resultRow &+= 1
    }

    @inline(__always)
    private static func sum(_ sums: Span<UInt32>, ofColumn column: Int) -> SIMD4<Float> {
        let index = column &* 4
        return SIMD4(
            Float(sums[index]), Float(sums[index &+ 1]), Float(sums[index &+ 2]), Float(sums[index &+ 3]))
    }

    /// Lane by lane, because the standard library converts whole vectors slowly.
    @inline(__always)
    private static func store(_ mean: SIMD4<Float>, in pixels: inout [UInt8], at target: Int) {
        for channel in 0..<4 {
            pixels[target &+ channel] = UInt8(truncatingIfNeeded: min(Int32(mean[channel] + 0.5), 255))
        }
    }
}
