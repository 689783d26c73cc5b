/// The last stages: planes to rows of RGBA.
struct JPEGPicture {
    let frame: JPEGFrame
    let colour: JPEGColour
    let planes: JPEGPlanes

    func bitmap(fitting target: ImageSize?) throws(ImageDecodingError) -> Bitmap {
        var builder = BitmapBuilder(source: frame.size, fitting: target, isOpaque: true)
        let samples = planes.samples.span
        if colour == .grey {
            let plane = planes.planes[0]
            for row in 0..<frame.size.height {
                let start = plane.offset &+ row &* plane.stride
                let grey = samples.extracting(start..<start &+ plane.size.width)
                try builder.addRow { pixels, range throws(ImageDecodingError) in
                    ColourConversion.convert(grey: grey, into: &pixels, range)
                }
            }
            return builder.finish()
        }

        let upsamplings = frame.components.indices.map {
            ChromaUpsampling(frame.components[$0], of: frame, plane: planes.planes[$0])
        }
        // A whole number of eight samples, for the vectors; upsampling by two may write one sample past the width, and
        // writes four at least.
        let length = (frame.size.width + 8) / 8 * 8
        var first = [UInt8](repeating: 0, count: length)
        var second = first
        var third = first
        var sums = [UInt16](repeating: 0, count: length)
        var packed = [ColourConversion.PackedPixels](repeating: SIMD8(), count: length / 4)
        for row in 0..<frame.size.height {
            var work = sums.mutableSpan
            var output = first.mutableSpan
            upsamplings[0].upsample(row: row, of: samples, into: &output, sums: &work)
            output = second.mutableSpan
            upsamplings[1].upsample(row: row, of: samples, into: &output, sums: &work)
            output = third.mutableSpan
            upsamplings[2].upsample(row: row, of: samples, into: &output, sums: &work)
            if colour == .rgb {
                try builder.addRow { pixels, range throws(ImageDecodingError) in
                    ColourConversion.convert(
                        red: first.span, green: second.span, blue: third.span, into: &pixels, range)
                }
            } else {
                var packedRow = packed.mutableSpan
                ColourConversion.convert(
                    luma: first.span, blue: second.span, red: third.span, into: &packedRow)
                try builder.addRow { pixels, range throws(ImageDecodingError) in
                    ColourConversion.unpack(packed.span, into: &pixels, range)
                }
            }
        }
        return builder.finish()
    }
}
