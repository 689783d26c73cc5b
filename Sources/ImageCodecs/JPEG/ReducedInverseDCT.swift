/// The inverse cosine transform of a block to 4 x 4, 2 x 2 or 1 sample: each is the mean of the square of samples that
/// it stands for, taken before they are rounded. The sums of neighbouring cosines are in the constants (13 bits), so
/// that little of the work is left, and coefficients whose cosines cancel out are not looked at.
enum ReducedInverseDCT {
    private typealias Lanes = SIMD8<Int32>

    /// To 4 x 4 samples, the first at `origin`.
    static func transformToFour(
        _ block: borrowing CoefficientBlock, into samples: inout MutableSpan<UInt8>, at origin: Int,
        stride: Int
    ) {
        // Down the columns, all eight at once; then along each of the four rows.
        let (c1, c3, c5, c7) = (lanes(block, 8), lanes(block, 24), lanes(block, 40), lanes(block, 56))
        let base = lanes(block, 0) &<< 14 &+ 1 &<< 11
        let even = lanes(block, 16) &* 15137 &- lanes(block, 48) &* 6270
        let outer = (c1 &* 20995 &+ c3 &* 7373) &- (c5 &* 4926 &+ c7 &* 4176)
        let inner = (c1 &* 8697 &- c3 &* 17799) &+ (c5 &* 11893 &- c7 &* 1730)
        storeFour((base &+ even &+ outer) &>> 12, into: &samples, at: origin)
        storeFour((base &- even &+ inner) &>> 12, into: &samples, at: origin &+ stride)
        storeFour((base &- even &- inner) &>> 12, into: &samples, at: origin &+ stride &* 2)
        storeFour((base &+ even &- outer) &>> 12, into: &samples, at: origin &+ stride &* 3)
    }

    @inline(__always)
    private static func storeFour(_ row: Lanes, into samples: inout MutableSpan<UInt8>, at origin: Int) {
        let base = row[0] &<< 14
        let even = row[2] &* 15137 &- row[6] &* 6270
        let outer = row[1] &* 20995 &+ row[3] &* 7373 &- row[5] &* 4926 &- row[7] &* 4176
        let inner = row[1] &* 8697 &- row[3] &* 17799 &+ row[5] &* 11893 &- row[7] &* 1730
        samples[origin] = sample(base &+ even &+ outer, bits: 19)
        samples[origin &+ 1] = sample(base &- even &+ inner, bits: 19)
        samples[origin &+ 2] = sample(base &- even &- inner, bits: 19)
        samples[origin &+ 3] = sample(base &+ even &- outer, bits: 19)
    }

    /// To 2 x 2 samples, the first at `origin`.
    static func transformToTwo(
        _ block: borrowing CoefficientBlock, into samples: inout MutableSpan<UInt8>, at origin: Int,
        stride: Int
    ) {
        let (c1, c3, c5, c7) = (lanes(block, 8), lanes(block, 24), lanes(block, 40), lanes(block, 56))
        let base = lanes(block, 0) &<< 15 &+ 1 &<< 12
        let odd = (c1 &* 29692 &- c3 &* 10426) &+ (c5 &* 6967 &- c7 &* 5906)
        storeTwo((base &+ odd) &>> 13, into: &samples, at: origin)
        storeTwo((base &- odd) &>> 13, into: &samples, at: origin &+ stride)
    }

    @inline(__always)
    private static func storeTwo(_ row: Lanes, into samples: inout MutableSpan<UInt8>, at origin: Int) {
        let base = row[0] &<< 15
        let odd = row[1] &* 29692 &- row[3] &* 10426 &+ row[5] &* 6967 &- row[7] &* 5906
        samples[origin] = sample(base &+ odd, bits: 20)
        samples[origin &+ 1] = sample(base &- odd, bits: 20)
    }

    /// The one sample of a block, which its first coefficient alone tells; so it does where the others are nought.
    @inline(__always)
    static func level(_ coefficient: Int16) -> UInt8 { sample(Int32(coefficient), bits: 3) }

    /// A value around nought to a sample around the middle level.
    @inline(__always)
    private static func sample(_ value: Int32, bits: Int32) -> UInt8 {
        let shifted = (value &+ 1 &<< (bits &- 1)) &>> bits &+ 128
        return UInt8(truncatingIfNeeded: max(0, min(255, shifted)))
    }

    @inline(__always)
    private static func lanes(_ block: borrowing CoefficientBlock, _ start: Int) -> Lanes {
        Lanes(truncatingIfNeeded: InverseDCT.load(block, start))
    }
}

/// The size a frame is decoded to. Each block of 8 x 8 coefficients becomes 8, 4, 2 or 1 samples each way, so that a
/// small picture never exists at its full size.
struct JPEGScale {
    /// What an eight by eight block of the picture as a whole becomes, each way: 1, 2, 4 or 8 pixels.
    let blockSize: Int
    /// The picture's size at that scale, rounded up.
    let size: ImageSize
    /// What a block of each component becomes. A component of fewer samples is reduced less, where that saves
    /// enlarging it afterwards.
    let componentBlockSizes: [Int]

    /// The smallest of the scales whose picture is not below `target`; the full size without one.
    init(_ frame: JPEGFrame, target: ImageSize?) {
        var blockSize = 8
        if let target {
            blockSize = 1
            while blockSize < 8 {
                let size = Self.scaled(frame.size, blockSize)
                if size.width >= target.width, size.height >= target.height { break }
                blockSize *= 2
            }
        }
        self.blockSize = blockSize
        size = Self.scaled(frame.size, blockSize)
        componentBlockSizes = frame.components.map { component in
            var own = blockSize
            while own < 8,
                frame.horizontalMaximum * blockSize % (component.horizontalFactor * own * 2) == 0,
                frame.verticalMaximum * blockSize % (component.verticalFactor * own * 2) == 0
            {
                own *= 2
            }
            return own
        }
    }

    private static func scaled(_ size: ImageSize, _ blockSize: Int) -> ImageSize {
        ImageSize(width: (size.width * blockSize + 7) / 8, height: (size.height * blockSize + 7) / 8)
    }
}
