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
            let pixel = stored &+ SIMD4<UInt8>(truncatingIfNeeded: nearest)
            output.store(pixel, at: margin &+ index)
            left = widened(pixel)
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
