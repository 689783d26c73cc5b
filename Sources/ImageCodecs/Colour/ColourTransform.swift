import Glibc

/// Converts pixels from the colours of a file to sRGB (IEC 61966-2-1), relative to the medium and without black point
/// compensation. Colours outside sRGB become the nearest level of each channel.
struct ColourTransform {
    private enum Kind {
        /// Linear light of each level of red, green and blue, 256 of each, and the matrix to linear sRGB, both with 14
        /// bits behind the point.
        case matrix(light: [Int], [Int])
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
        kind = .matrix(
            light: curves.flatMap { curve in
                (0...255).map { Int((curve.value(at: Float($0) / 255) * Float(Self.one)).rounded()) }
            },
            (0..<9).map { index in
                // Greater numbers are no primaries, and a product of theirs could overflow.
                Int(min(max(matrix[index / 3, index % 3], -100), 100) * Float(Self.one))
            })
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
        SIMD4<UInt8>(encoded(xyz), rounding: .toNearestOrAwayFromZero)
    }

    /// Converts pixels in RGBA in place. Alpha stays.
    func apply(to pixels: inout MutableSpan<UInt8>) {
        switch kind {
        case .matrix(let light, let matrix):
            Self.apply(light.span, matrix.span, Self.encodedLevels.span, to: &pixels)
        case .profile: prepared.apply(to: &pixels)
        case .grey(let colours):
            for place in stride(from: 0, to: pixels.count, by: 4) {
                let colour = colours[Int(pixels[place])]
                for channel in 0..<3 { pixels[place &+ channel] = colour[channel] }
            }
        case .grid(let grid):
            for place in stride(from: 0, to: pixels.count, by: 4) {
                let colour =
                    SIMD4(Float(pixels[place]), Float(pixels[place &+ 1]), Float(pixels[place &+ 2]), 0) / 255
                let levels = SIMD4<UInt8>(grid.value(at: colour), rounding: .toNearestOrAwayFromZero)
                for channel in 0..<3 { pixels[place &+ channel] = levels[channel] }
            }
        }
    }

    private static func apply(
        _ light: Span<Int>, _ matrix: Span<Int>, _ encoded: Span<UInt8>, to pixels: inout MutableSpan<UInt8>
    ) {
        let (m0, m1, m2) = (matrix[0], matrix[1], matrix[2])
        let (m3, m4, m5) = (matrix[3], matrix[4], matrix[5])
        let (m6, m7, m8) = (matrix[6], matrix[7], matrix[8])
        let half = one / 2
        var place = 0
        while place &+ 4 <= pixels.count {
            let red = light[Int(pixels[place])]
            let green = light[256 &+ Int(pixels[place &+ 1])]
            let blue = light[512 &+ Int(pixels[place &+ 2])]
            let r = (m0 &* red &+ m1 &* green &+ m2 &* blue &+ half) &>> 14
            let g = (m3 &* red &+ m4 &* green &+ m5 &* blue &+ half) &>> 14
            let b = (m6 &* red &+ m7 &* green &+ m8 &* blue &+ half) &>> 14
            pixels[place] = encoded[min(max(r, 0), one)]
            pixels[place &+ 1] = encoded[min(max(g, 0), one)]
            pixels[place &+ 2] = encoded[min(max(b, 0), one)]
            place &+= 4
        }
    }

    /// The colour of four inks, 0 for none and 255 for full, by a prepared conversion.
    func colour(ofInks inks: SIMD4<UInt8>) -> SIMD4<UInt8> {
        guard case .grid(let grid) = kind else { return SIMD4(repeating: 255) }
        let levels = grid.value(at: SIMD4<Float>(inks) / 255)
        return SIMD4<UInt8>(SIMD4(levels.x, levels.y, levels.z, 255), rounding: .toNearestOrAwayFromZero)
    }
}

extension Bitmap {
    /// The bitmap in sRGB.
    consuming func converted(by transform: ColourTransform?) -> Bitmap {
        guard let transform else { return self }
        var bitmap = self
        bitmap.change { pixels in transform.apply(to: &pixels) }
        return bitmap
    }
}
