/// The loop filter, which smooths the edges of blocks (RFC 6386 section 15). A plane has eight samples in each element,
/// and eight samples along an edge are filtered at a time.
enum LossyFilter {
    typealias Lanes = SIMD8<Int16>

    /// The kinds of edges: between macroblocks, between the blocks in one, and both of the simple filter.
    private enum Kind {
        case outer, inner, simple
    }

    /// Filters a macroblock: the edges to its left and above it, if there is a macroblock, and those between its blocks
    /// if `hasInner`.
    /// - Parameter start: the first element of the macroblock.
    /// - Parameter stride: the elements of a row of the plane.
    /// - Parameter columns: the elements of a row of the macroblock: 2 for luma, 1 for chroma.
    static func filter(
        _ plane: inout MutableSpan<Lanes>, at start: Int, stride: Int, columns: Int, hasLeft: Bool,
        hasAbove: Bool,
        hasInner: Bool, _ filter: LossySegment.Filter, isSimple: Bool
    ) {
        if isSimple {
            filterEdges(
                .simple, .simple, &plane, at: start, stride, columns, hasLeft: hasLeft, hasAbove: hasAbove,
                hasInner: hasInner, filter)
        } else {
            filterEdges(
                .outer, .inner, &plane, at: start, stride, columns, hasLeft: hasLeft, hasAbove: hasAbove,
                hasInner: hasInner, filter)
        }
    }

    /// Inlined, as all that it calls, so that each kind of edge has code of its own.
    @inline(__always)
    private static func filterEdges(
        _ outer: Kind, _ inner: Kind, _ plane: inout MutableSpan<Lanes>, at start: Int, _ stride: Int,
        _ columns: Int, hasLeft: Bool, hasAbove: Bool, hasInner: Bool, _ filter: LossySegment.Filter
    ) {
        let outerLimit = 2 &* (filter.edge &+ 4) &+ 1
        let innerLimit = 2 &* filter.edge &+ 1
        for part in 0..<columns {
            let first = start &+ part &* 8 &* stride
            if hasLeft { betweenColumns(outer, &plane, at: first, stride, filter, outerLimit) }
            guard hasInner else { continue }
            for column in 0..<columns {
                if column > 0 {
                    betweenColumns(inner, &plane, at: first &+ column, stride, filter, innerLimit)
                }
                inColumn(inner, &plane, at: first &+ column, stride, filter, innerLimit)
            }
        }
        for part in 0..<columns {
            let first = start &+ part
            if hasAbove { betweenRows(outer, &plane, at: first, stride, filter, outerLimit) }
            guard hasInner else { continue }
            for row in 1..<columns &* 2 {
                betweenRows(inner, &plane, at: first &+ row &* 4 &* stride, stride, filter, innerLimit)
            }
        }
    }

    @inline(__always)
    private static func betweenRows(
        _ kind: Kind, _ plane: inout MutableSpan<Lanes>, at start: Int, _ stride: Int,
        _ filter: LossySegment.Filter, _ limit: Int16
    ) {
        let first = start &- 4 &* stride
        var eight = Eight(
            plane[first], plane[first &+ stride], plane[first &+ 2 &* stride], plane[first &+ 3 &* stride],
            plane[start], plane[start &+ stride], plane[start &+ 2 &* stride], plane[start &+ 3 &* stride])
        guard eight.smooth(kind, filter, limit) else { return }
        plane[first &+ stride] = eight.p2
        plane[first &+ 2 &* stride] = eight.p1
        plane[first &+ 3 &* stride] = eight.p0
        plane[start] = eight.q0
        plane[start &+ stride] = eight.q1
        plane[start &+ 2 &* stride] = eight.q2
    }

    /// Filters the edge in the middle of eight rows of elements.
    @inline(__always)
    private static func inColumn(
        _ kind: Kind, _ plane: inout MutableSpan<Lanes>, at start: Int, _ stride: Int,
        _ filter: LossySegment.Filter, _ limit: Int16
    ) {
        var eight = Eight(
            plane[start], plane[start &+ stride], plane[start &+ 2 &* stride], plane[start &+ 3 &* stride],
            plane[start &+ 4 &* stride], plane[start &+ 5 &* stride], plane[start &+ 6 &* stride],
            plane[start &+ 7 &* stride]
        ).transposed(filter.zero)
        guard eight.smooth(kind, filter, limit) else { return }
        let rows = eight.transposed(filter.zero)
        plane[start] = rows.p3
        plane[start &+ stride] = rows.p2
        plane[start &+ 2 &* stride] = rows.p1
        plane[start &+ 3 &* stride] = rows.p0
        plane[start &+ 4 &* stride] = rows.q0
        plane[start &+ 5 &* stride] = rows.q1
        plane[start &+ 6 &* stride] = rows.q2
        plane[start &+ 7 &* stride] = rows.q3
    }

    /// Filters the edge to the left of eight rows of elements.
    @inline(__always)
    private static func betweenColumns(
        _ kind: Kind, _ plane: inout MutableSpan<Lanes>, at start: Int, _ stride: Int,
        _ filter: LossySegment.Filter, _ limit: Int16
    ) {
        var eight = Eight(
            across(plane, start), across(plane, start &+ stride), across(plane, start &+ 2 &* stride),
            across(plane, start &+ 3 &* stride), across(plane, start &+ 4 &* stride),
            across(plane, start &+ 5 &* stride), across(plane, start &+ 6 &* stride),
            across(plane, start &+ 7 &* stride)
        ).transposed(filter.zero)
        guard eight.smooth(kind, filter, limit) else { return }
        let rows = eight.transposed(filter.zero)
        split(rows.p3, &plane, start)
        split(rows.p2, &plane, start &+ stride)
        split(rows.p1, &plane, start &+ 2 &* stride)
        split(rows.p0, &plane, start &+ 3 &* stride)
        split(rows.q0, &plane, start &+ 4 &* stride)
        split(rows.q1, &plane, start &+ 5 &* stride)
        split(rows.q2, &plane, start &+ 6 &* stride)
        split(rows.q3, &plane, start &+ 7 &* stride)
    }

    /// The last four samples of the element before `index`, and the first four of its own.
    @inline(__always)
    private static func across(_ plane: borrowing MutableSpan<Lanes>, _ index: Int) -> Lanes {
        Lanes(lowHalf: plane[index &- 1].highHalf, highHalf: plane[index].lowHalf)
    }

    @inline(__always)
    private static func split(_ lanes: Lanes, _ plane: inout MutableSpan<Lanes>, _ index: Int) {
        let (left, right) = (plane[index &- 1], plane[index])
        plane[index &- 1] = Lanes(lowHalf: left.lowHalf, highHalf: lanes.lowHalf)
        plane[index] = Lanes(lowHalf: lanes.highHalf, highHalf: right.highHalf)
    }

    /// Four samples on either side of an edge, at eight places along it; or the eight rows of these.
    private struct Eight {
        var p3: Lanes, p2: Lanes, p1: Lanes, p0: Lanes
        var q0: Lanes, q1: Lanes, q2: Lanes, q3: Lanes

        @inline(__always)
        init(
            _ p3: Lanes, _ p2: Lanes, _ p1: Lanes, _ p0: Lanes, _ q0: Lanes, _ q1: Lanes, _ q2: Lanes,
            _ q3: Lanes
        ) {
            (self.p3, self.p2, self.p1, self.p0) = (p3, p2, p1, p0)
            (self.q0, self.q1, self.q2, self.q3) = (q0, q1, q2, q3)
        }

        /// Rows become columns. Each of three steps rotates the six bits of a sample's row and lane by one.
        ///
        /// - Parameter zero: zeros that the compiler does not know. They keep it from joining the steps with each other
        ///   and with what comes before, lane by lane, which takes three times as long.
        @inline(__always)
        func transposed(_ zero: Lanes) -> Eight { rotated(zero).rotated(zero).rotated(zero) }

        @inline(__always)
        private func rotated(_ zero: Lanes) -> Eight {
            let (a0, a1, a2, a3) = (p3 &+ zero, p2 &+ zero, p1 &+ zero, p0 &+ zero)
            let (b0, b1, b2, b3) = (q0 &+ zero, q1 &+ zero, q2 &+ zero, q3 &+ zero)
            return Eight(
                interleavedLow(a0, b0), interleavedHigh(a0, b0), interleavedLow(a1, b1),
                interleavedHigh(a1, b1),
                interleavedLow(a2, b2), interleavedHigh(a2, b2), interleavedLow(a3, b3),
                interleavedHigh(a3, b3))
        }

        /// Smooths the edge (sections 15.2 and 15.3). Returns false if no sample changes.
        @inline(__always)
        mutating func smooth(_ kind: Kind, _ filter: LossySegment.Filter, _ limit: Int16) -> Bool {
            var excess = distance(p0, q0) &* 4 &+ distance(p1, q1) &- Lanes(repeating: limit)
            let beside = highest(distance(p1, p0), distance(q1, q0))
            if kind != .simple {
                let inside = highest(
                    highest(distance(p3, p2), distance(p2, p1)), highest(distance(q3, q2), distance(q2, q1)))
                excess = highest(excess, highest(inside, beside) &- Lanes(repeating: filter.interior))
            }
            // All bits are set where samples are smoothed, and where the variance is high.
            let smoothed = (excess &- 1) &>> 15
            guard any(excess .<= Lanes()) else { return false }
            let varied = (Lanes(repeating: filter.variance) &- beside) &>> 15
            // Inside a macroblock only high variance takes the samples farther away into account.
            let taken = kind == .inner ? varied : Lanes(repeating: -1)
            let step = (q0 &- p0) &* 3 &+ clamped(p1 &- q1, to: -128...127) & taken
            let changed = kind == .outer ? smoothed & varied : smoothed
            let weak = smoothed & ~varied
            var before = clamped((step &+ 3) &>> 3, to: -16...15) & changed
            var after = clamped((step &+ 4) &>> 3, to: -16...15) & changed
            if kind == .inner {
                let further = (after &+ 1) &>> 1 & weak
                p1 = clamped(p1 &+ further, to: 0...255)
                q1 = clamped(q1 &- further, to: 0...255)
            } else if kind == .outer {
                let a = clamped(step, to: -128...127) & weak
                let (nearest, near, far) = (
                    (a &* 27 &+ 63) &>> 7, (a &* 18 &+ 63) &>> 7, (a &* 9 &+ 63) &>> 7
                )
                before &+= nearest
                after &+= nearest
                p1 = clamped(p1 &+ near, to: 0...255)
                q1 = clamped(q1 &- near, to: 0...255)
                p2 = clamped(p2 &+ far, to: 0...255)
                q2 = clamped(q2 &- far, to: 0...255)
            }
            p0 = clamped(p0 &+ before, to: 0...255)
            q0 = clamped(q0 &- after, to: 0...255)
            return true
        }
    }

    @inline(__always)
    private static func highest(_ a: Lanes, _ b: Lanes) -> Lanes { a.replacing(with: b, where: b .> a) }

    @inline(__always)
    private static func distance(_ a: Lanes, _ b: Lanes) -> Lanes {
        let difference = a &- b
        return highest(difference, 0 &- difference)
    }
}
