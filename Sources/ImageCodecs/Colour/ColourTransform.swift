#if canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Converts pixels from the colours of a file to sRGB (IEC 61966-2-1), relative to the medium and without black point
/// compensation. Colours outside sRGB become the nearest level of each channel.
struct ColourTransform {
    private enum Kind {
        /// What each level of red, green and blue, 256 of each, adds to the three channels of linear sRGB, in 21 bits
        /// each: no sum is below 0. And the level of sRGB of each sum.
        case matrix(shares: [UInt64], levels: [UInt8])
        /// The colour of each level of grey.
        case grey([SIMD4<UInt8>])
        /// sRGB, from 0 to 255, of the file's colours.
        case grid(ColourGrid)
        /// A profile whose grey or grid is not computed yet: see `prepared`.
        case profile(ICCProfile)
    }

    private let kind: Kind

    /// The conversion from a profile; nil for a profile that is sRGB, or that is damaged or not for `space`.
    init?(profile: Span<UInt8>, for space: ICCProfile.Space) {
        guard let profile = ICCProfile(profile, for: space) else { return nil }
        if let (curves, toXYZ) = profile.matrixShaper {
            self.init(curves, toXYZ: toXYZ)
            return
        }
        self.init(kind: .profile(profile))
    }

    private init(kind: Kind) { self.kind = kind }

    /// The same conversion, ready for pixels. A grid has up to 83,521 colours, which a plan for decoding does not need.
    var prepared: ColourTransform {
        guard case .profile(let profile) = kind else { return self }
        let kind: Kind =
            switch profile.space {
            case .grey:
                .grey((0...255).map { Self.levels(profile.xyz(of: SIMD4(repeating: Float($0) / 255))) })
            case .rgb: .grid(ColourGrid(sides: [33, 33, 33]) { Self.encoded(profile.xyz(of: $0)) })
            case .cmyk: .grid(ColourGrid(sides: [17, 17, 17, 17]) { Self.encoded(profile.xyz(of: $0)) })
            }
        return ColourTransform(kind: kind)
    }

    /// The conversion from red, green and blue with these curves and primaries; nil if they are those of sRGB.
    init?(_ curves: [ToneCurve], toXYZ: ColourMatrix) {
        let matrix = ColourMatrix.linearSRGB.after(toXYZ)
        let isSame = (0..<9).allSatisfy { index in
            abs(matrix[index / 3, index % 3] - (index % 4 == 0 ? 1 : 0)) < 0.01
        }
        let isLinear = curves.allSatisfy { curve in
            (0...16).allSatisfy { step in
                let level = Float(step) / 16
                return abs(Self.encoded(curve.value(at: level)) - level) < 1 / 255
            }
        }
        if isSame, isLinear { return nil }
        // Greater numbers are no primaries, and a sum of theirs could need more than 21 bits.
        let lights = (0..<3).map { channel in
            let column = (0..<3).map { min(max(matrix[$0, channel], -8), 8) * Float(Self.one) }
            return (0...255).flatMap { level in
                let light = curves[channel].value(at: Float(level) / 255)
                return column.map { Int(($0 * light).rounded()) }
            }
        }
        let least = lights.map { $0.min() ?? 0 }
        let most = lights.reduce(0) { $0 + ($1.max() ?? 0) }
        let shares = (0..<768).map { index -> UInt64 in
            let (channel, level) = (index / 256, index % 256)
            return lights[channel][level * 3..<level * 3 + 3].reduce(0) { sum, light in
                sum << 21 | UInt64(light - least[channel])
            }
        }
        let levels = (least.reduce(0, +)...most).map { Self.encodedLevels[min(max($0, 0), Self.one)] }
        kind = .matrix(shares: shares, levels: levels)
    }

    /// 1 with 14 bits behind the point.
    private static let one = 1 << 14

    /// The level of each linear light from 0 to `one`.
    private static let encodedLevels: [UInt8] = (0...one).map {
        UInt8((encoded(Float($0) / Float(one)) * 255).rounded())
    }

    /// A level from 0 to 1 of a linear light.
    private static func encoded(_ light: Float) -> Float {
        light <= 0.003_130_8 ? max(light, 0) * 12.92 : min(1.055 * powf(light, 1 / 2.4) - 0.055, 1)
    }

    /// The levels from 0 to 255 of a colour in XYZ.
    private static func encoded(_ xyz: SIMD4<Float>) -> SIMD4<Float> {
        let light = ColourMatrix.linearSRGB.apply(to: xyz)
        return SIMD4(encoded(light.x), encoded(light.y), encoded(light.z), 1) * 255
    }

    private static func levels(_ xyz: SIMD4<Float>) -> SIMD4<UInt8> {
        rounded(encoded(xyz))
    }

    private static func rounded(_ levels: SIMD4<Float>) -> SIMD4<UInt8> {
        SIMD4(
            UInt8(levels.x + 0.5), UInt8(levels.y + 0.5), UInt8(levels.z + 0.5), UInt8(levels.w + 0.5))
    }

    /// Converts a range of pixels in RGBA in place. Alpha stays.
    func apply(to pixels: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        switch kind {
        case .matrix(let shares, let levels): Self.apply(shares.span, levels.span, to: &pixels, range)
        case .profile: prepared.apply(to: &pixels, range)
        case .grey(let colours):
            for place in stride(from: range.lowerBound, to: range.upperBound, by: 4) {
                let colour = colours[Int(pixels[place])]
                for channel in 0..<3 { pixels[place &+ channel] = colour[channel] }
            }
        case .grid(let grid):
            for place in stride(from: range.lowerBound, to: range.upperBound, by: 4) {
                let colour =
                    SIMD4(Float(pixels[place]), Float(pixels[place &+ 1]), Float(pixels[place &+ 2]), 0) / 255
                let levels = Self.rounded(grid.value(at: colour))
                for channel in 0..<3 { pixels[place &+ channel] = levels[channel] }
            }
        }
    }

    private static func apply(
        _ shares: Span<UInt64>, _ levels: Span<UInt8>, to pixels: inout MutableSpan<UInt8>,
        _ range: Range<Int>
    ) {
        let reds = shares.extracting(0..<256)
        let greens = shares.extracting(256..<512)
        let blues = shares.extracting(512..<768)
        var place = range.lowerBound
        while place &+ 4 <= range.upperBound {
            let light =
                reds[Int(pixels[place])] &+ greens[Int(pixels[place &+ 1])] &+ blues[Int(pixels[place &+ 2])]
            pixels[place] = levels[Int(truncatingIfNeeded: light &>> 42)]
            pixels[place &+ 1] = levels[Int(truncatingIfNeeded: light &>> 21) & 0x1F_FFFF]
            pixels[place &+ 2] = levels[Int(truncatingIfNeeded: light) & 0x1F_FFFF]
            place &+= 4
        }
    }

    /// The colour of four inks, 0 for none and 255 for full, by a prepared conversion.
    func colour(ofInks inks: SIMD4<UInt8>) -> SIMD4<UInt8> {
        guard case .grid(let grid) = kind else { return SIMD4(repeating: 255) }
        var colour = grid.value(at: SIMD4<Float>(inks) / 255)
        colour.w = 255
        return Self.rounded(colour)
    }
}

extension Bitmap {
    /// The bitmap in sRGB.
    consuming func converted(by transform: ColourTransform?) -> Bitmap {
        if let transform { change { pixels in transform.apply(to: &pixels, 0..<pixels.count) } }
        return self
    }
}
