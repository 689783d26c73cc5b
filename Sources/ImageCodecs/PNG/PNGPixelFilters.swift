/// Undoes the filters of PNG 9.2 on pixels of three or four bytes: all channels at once, which depend on the pixel to the
/// left but not on each other. Rows begin behind `margin` bytes; of three channels the fourth byte written is the next
/// pixel's, which comes after it.
enum PNGPixelFilters {
    private typealias Lanes = SIMD4<Int16>

    @inline(__always)
    static func addLeft(
        _ filtered: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ margin: Int, channels: Int
    ) {
        var left = SIMD4<UInt8>()
        var index = 0
        while index &+ 4 <= filtered.count {
            left &+= filtered.vector4(at: index)
            output.store(left, at: margin &+ index)
            index &+= channels
        }
        if index < filtered.count {
            output.store(left &+ last(of: filtered, at: index), at: margin &+ index)
        }
    }

    @inline(__always)
    static func addMean(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ margin: Int,
        channels: Int
    ) {
        var left = Lanes()
        var index = 0
        while index &+ channels <= filtered.count {
            let stored =
                index &+ 4 <= filtered.count ? filtered.vector4(at: index) : last(of: filtered, at: index)
            let mean = (left &+ Lanes(truncatingIfNeeded: above.vector4(at: margin &+ index))) &>> 1
            let pixel = stored &+ SIMD4<UInt8>(truncatingIfNeeded: mean)
            output.store(pixel, at: margin &+ index)
            left = Lanes(truncatingIfNeeded: pixel)
            index &+= channels
        }
    }

    /// PNG 9.4, what is chosen being chosen by masks made of signs.
    @inline(__always)
    static func addPaeth(
        _ filtered: Span<UInt8>, _ above: Span<UInt8>, into output: inout MutableSpan<UInt8>, _ margin: Int,
        channels: Int
    ) {
        var left = Lanes()
        var corner = Lanes()
        var index = 0
        while index &+ channels <= filtered.count {
            let stored =
                index &+ 4 <= filtered.count ? filtered.vector4(at: index) : last(of: filtered, at: index)
            let up = Lanes(truncatingIfNeeded: above.vector4(at: margin &+ index))
            let across = up &- corner
            let down = left &- corner
            let toLeft = magnitude(across)
            let toUp = magnitude(down)
            let toCorner = magnitude(across &+ down)
            let isUpNearer = (toUp &- toLeft) &>> 15
            let nearer = left ^ ((left ^ up) & isUpNearer)
            let isCornerNearest = ((toCorner &- toLeft) & (toCorner &- toUp)) &>> 15
            let nearest = nearer ^ ((nearer ^ corner) & isCornerNearest)
            let pixel = stored &+ SIMD4<UInt8>(truncatingIfNeeded: nearest)
            output.store(pixel, at: margin &+ index)
            left = Lanes(truncatingIfNeeded: pixel)
            corner = up
            index &+= channels
        }
    }

    /// The last three bytes of a row.
    @inline(__always)
    private static func last(of filtered: Span<UInt8>, at index: Int) -> SIMD4<UInt8> {
        SIMD4(filtered[index], filtered[index &+ 1], filtered[index &+ 2], 0)
    }

    @inline(__always)
    private static func magnitude(_ value: Lanes) -> Lanes {
        let sign = value &>> 15
        return (value ^ sign) &- sign
    }
}
