/// Decodes the pixels of a lossless image as ARGB numbers, in order: literals, copies of earlier pixels, and entries of
/// a cache of recent colours (RFC 9649 section 5.2).
///
/// A copy reaches back at most `farthestCopy` pixels. So of a large image only a window of about twice that is kept.
struct LosslessPixels {
    private let size: ImageSize
    private let codes: LosslessCodes
    private var progress: Progress
    /// The pixels from number `windowStart` on.
    private var window: [UInt32]
    private var windowStart = 0
    /// The colour cache.
    private var cache: [UInt32]

    private struct Progress {
        var input: LosslessInput
        /// The number of decoded pixels.
        var decoded = 0
        /// The number of pixels that are in the cache: they are added when it is read.
        var cached = 0
    }

    /// The longest copy: symbol 23 with ten extra bits.
    private static let longestCopy = 4096
    /// The greatest distance: symbol 39 with 18 extra bits, minus the codes of nearby pixels.
    private static let farthestCopy = 1 << 20

    /// - Parameter isWhole: whether the window keeps all pixels. Default: false.
    init(_ size: ImageSize, codes: LosslessCodes, input: LosslessInput, isWhole: Bool = false) {
        self.size = size
        self.codes = codes
        progress = Progress(input: input)
        let count = isWhole ? size.width * size.height : Self.windowCount(for: size)
        window = [UInt32](repeating: 0, count: count)
        cache = [UInt32](repeating: 0, count: codes.cacheBits > 0 ? 1 << codes.cacheBits : 0)
    }

    private static func windowCount(for size: ImageSize) -> Int {
        min(size.width * size.height, farthestCopy + max(farthestCopy, size.width) + longestCopy)
    }

    /// The size of the window in bytes.
    static func memory(for size: ImageSize) -> Int { 4 * windowCount(for: size) }

    /// Decodes a whole image without tiles, such as the data of a transform.
    static func image(
        _ size: ImageSize, _ input: inout LosslessInput, in bytes: Span<UInt8>
    ) throws(ImageDecodingError) -> [UInt32] {
        let codes = try LosslessCodes(size, hasTiles: false, &input, in: bytes)
        var pixels = LosslessPixels(size, codes: codes, input: input, isWhole: true)
        try pixels.decode(upTo: size.width * size.height, in: bytes)
        input = pixels.progress.input
        return pixels.window
    }

    /// Decodes a row of the image, and copies it to the beginning of `row`.
    mutating func readRow(
        _ number: Int, into row: inout [UInt32], in bytes: Span<UInt8>
    ) throws(ImageDecodingError) {
        let start = number * size.width
        if progress.decoded < start + size.width {
            slide(for: start + size.width)
            try decode(upTo: start + size.width, in: bytes)
        }
        let source = window.span.extracting(start - windowStart..<start - windowStart + size.width)
        var target = row.mutableSpan
        for column in 0..<source.count { target[column] = source[column] }
    }

    /// Makes room in the window up to a pixel and the end of a copy that begins before it.
    private mutating func slide(for end: Int) {
        guard min(end + Self.longestCopy, size.width * size.height) > windowStart + window.count else {
            return
        }
        if codes.cacheBits > 0 { fillCache() }
        let start = max(windowStart, progress.decoded - Self.farthestCopy)
        let (shift, count) = (start - windowStart, progress.decoded - start)
        var pixels = window.mutableSpan
        for index in 0..<count { pixels[index] = pixels[index &+ shift] }
        windowStart = start
    }

    private mutating func decode(upTo end: Int, in bytes: Span<UInt8>) throws(ImageDecodingError) {
        try Self.decode(upTo: end, in: bytes, size, codes, &progress, &window, from: windowStart, &cache)
    }

    private static func decode(
        upTo end: Int, in bytes: Span<UInt8>, _ size: ImageSize, _ codes: LosslessCodes,
        _ progress: inout Progress, _ window: inout [UInt32], from start: Int, _ cache: inout [UInt32]
    ) throws(ImageDecodingError) {
        let tables = codes.tables.span
        let tiles = codes.tiles.span
        let groups = codes.groups.span
        let width = size.width
        let total = width * size.height
        let tileMask = 1 << codes.tileBits - 1
        var bits = progress.input.bits
        var position = progress.decoded
        var cached = progress.cached
        var column = position % width
        var row = position / width
        var window = window.mutableSpan
        var cache = cache.mutableSpan
        let cacheShift = UInt32(32 - codes.cacheBits)
        defer {
            progress.input.bits = bits
            progress.decoded = position
            progress.cached = cached
        }
        while position < end {
            let tile = (row &>> codes.tileBits) &* codes.tilesAcross &+ column &>> codes.tileBits
            let group = groups[tiles.isEmpty ? 0 : Int(tiles[tile])]
            // Pixels up to the end of the tile or the row have these codes.
            let tileEnd = position &+ min(width, (column | tileMask) &+ 1) &- column
            let first = position
            while position < tileEnd {
                bits.refill(from: bytes)
                let entry = bits.entry(
                    in: tables, from: group.green.start, rootBits: group.green.rootBits)
                if InflateTable.isLiteral(entry) {
                    let green = entry &>> 8 & 0xFF00
                    if let rest = group.rest {
                        window[position &- start] = rest | green
                    } else {
                        let red = bits.entry(in: tables, from: group.red.start, rootBits: group.red.rootBits)
                        if bits.count < 30 { bits.refill(from: bytes) }
                        let blue = bits.entry(
                            in: tables, from: group.blue.start, rootBits: group.blue.rootBits)
                        let alpha = bits.entry(
                            in: tables, from: group.alpha.start, rootBits: group.alpha.rootBits)
                        window[position &- start] =
                            alpha &<< 8 & 0xFF00_0000 | red & 0x00FF_0000 | green | blue &>> 16
                    }
                    position &+= 1
                } else if entry >> 8 & 15 == LosslessCodes.cacheKind {
                    while cached < position {
                        let pixel = window[cached &- start]
                        cache[Int(truncatingIfNeeded: (pixel &* 0x1E35_A7BD) &>> cacheShift)] = pixel
                        cached &+= 1
                    }
                    window[position &- start] = cache[Int(entry >> 16)]
                    position &+= 1
                } else {
                    let length = Int(entry >> 16) &+ bits.take(Int(entry >> 4 & 15))
                    bits.refill(from: bytes)
                    let symbol = bits.entry(
                        in: tables, from: group.distance.start, rootBits: group.distance.rootBits)
                    let (base, extraBits) = InflateCodes.range(ofSymbol: Int(symbol >> 16))
                    bits.refill(from: bytes)
                    let back = distance(ofCode: base &+ bits.take(extraBits), width: width)
                    guard bits.count >= 0 else { throw progress.input.truncated(bytes) }
                    guard back <= position, length <= total &- position else {
                        throw progress.input.corrupt("copy in a WebP image")
                    }
                    copy(length, from: back, to: position &- start, in: &window)
                    position &+= length
                    break
                }
            }
            guard bits.count >= 0 else {
                position = first
                throw progress.input.truncated(bytes)
            }
            column &+= position &- first
            while column >= width {
                column &-= width
                row &+= 1
            }
        }
    }

    @inline(__always)
    private static func copy(
        _ length: Int, from distance: Int, to position: Int, in window: inout MutableSpan<UInt32>
    ) {
        var target = position
        if distance == 1 {
            let pixel = window[position &- 1]
            for index in position..<position &+ length { window[index] = pixel }
            return
        }
        while target < position &+ length {
            window[target] = window[target &- distance]
            target &+= 1
        }
    }

    private mutating func fillCache() {
        let shift = UInt32(32 - codes.cacheBits)
        while progress.cached < progress.decoded {
            let pixel = window[progress.cached - windowStart]
            cache[Int(truncatingIfNeeded: (pixel &* 0x1E35_A7BD) &>> shift)] = pixel
            progress.cached += 1
        }
    }

    /// RFC 9649 section 5.2.2: codes above 120 are distances plus 120; the others name pixels nearby.
    @inline(__always)
    private static func distance(ofCode code: Int, width: Int) -> Int {
        guard code <= neighbours.count else { return code &- neighbours.count }
        let (x, y) = neighbours[code &- 1]
        return max(1, x &+ y &* width)
    }

    /// The pixels nearby, by how far they lie to the left and above. Nearest first; of two as near the one in a nearer
    /// column, left before right.
    private static let neighbours: [(x: Int, y: Int)] = {
        var places: [(x: Int, y: Int)] = []
        for y in 0...7 {
            for x in -7...8 where y > 0 || x > 0 { places.append((x, y)) }
        }
        func order(_ place: (x: Int, y: Int)) -> (Int, Int, Int) {
            (place.x * place.x + place.y * place.y, abs(place.x), place.x > 0 ? 0 : 1)
        }
        return places.sorted { order($0) < order($1) }
    }()
}

/// Decodes the rows of a lossless image one by one, from a VP8L stream (RFC 9649 section 3):
///
///     2F                  signature, in a chunk of its own; ALPH has neither it nor the size
///     3F 81 12 10         14 bits width - 1, 14 bits height - 1, 1 bit whether alpha is used, 3 bits version
///     ...                 transforms, codes, pixels
struct LosslessRows {
    let size: ImageSize
    /// Whether alpha counts. RFC 9649 calls it a hint; libwebp and the browsers show pixels as opaque without it.
    let hasAlpha: Bool
    private var pixels: LosslessPixels
    /// In the order of the file; they are undone from the last.
    private var transforms: [LosslessTransform] = []
    private var nextRow = 0
    /// The pixels of the last row, as ARGB numbers.
    private(set) var row: [UInt32]

    /// Reads the header, the transforms and the codes of a VP8L chunk.
    /// - Parameter stream: the chunk's body.
    /// - Parameter origin: its offset in the file, for errors.
    /// - Parameter size: the size that the container has; the stream must have the same.
    /// - Parameter hasHeader: false for the stream of an ALPH chunk. Default: true.
    init(
        _ stream: Span<UInt8>, origin: Int, size: ImageSize, hasHeader: Bool = true
    ) throws(ImageDecodingError) {
        var input = LosslessInput(origin: origin)
        var hasAlpha = false
        if hasHeader {
            guard try input.read(8, in: stream) == 0x2F else { throw input.corrupt("signature of VP8L") }
            let width = try input.read(14, in: stream) + 1
            let height = try input.read(14, in: stream) + 1
            hasAlpha = try input.read(1, in: stream) == 1
            guard try input.read(3, in: stream) == 0 else { throw input.corrupt("version of VP8L") }
            guard size == ImageSize(width: width, height: height) else { throw input.corrupt("size of VP8L") }
        }
        self.size = size
        self.hasAlpha = hasAlpha
        var packed = size
        var kinds: Set<Int> = []
        while try input.read(1, in: stream) == 1 {
            let kind = try input.read(2, in: stream)
            guard kinds.insert(kind).inserted else { throw input.corrupt("second WebP transform of a kind") }
            transforms.append(try LosslessTransform(kind: kind, &packed, &input, in: stream))
        }
        let codes = try LosslessCodes(packed, hasTiles: true, &input, in: stream)
        pixels = LosslessPixels(packed, codes: codes, input: input)
        row = [UInt32](repeating: 0, count: size.width)
    }

    /// Decodes the next row to `row`. There are `size.height` of them.
    mutating func readRow(_ stream: Span<UInt8>) throws(ImageDecodingError) {
        try pixels.readRow(nextRow, into: &row, in: stream)
        for index in transforms.indices.reversed() { transforms[index].undo(nextRow, &row) }
        nextRow += 1
    }
}
