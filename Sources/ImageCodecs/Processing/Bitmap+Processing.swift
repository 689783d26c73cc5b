extension Bitmap {
    /// The image after some processors, in their order. At most this image and one more exist at a time.
    /// - Parameters:
    ///   - processors: the steps.
    ///   - limits: the limits for the size of each result.
    public consuming func processed(
        by processors: [any ImageProcessing], limits: DecodingLimits = .standard
    ) throws(ImageProcessingError) -> Bitmap {
        let processors = processors.map { ImageProcessor($0) }
        for processor in processors { try processor.check() }
        var image = consume self
        for processor in processors { image = try processor.process(consume image, limits) }
        return image
    }
}

extension ImageProcessor {
    /// The greatest standard deviation of a blur, in pixels.
    private static let greatestBlur = 10_000.0

    /// Checks the parameters, without an image.
    /// - Throws: `invalidParameter`.
    package func check() throws(ImageProcessingError) {
        func require(_ condition: Bool, _ reason: String) throws(ImageProcessingError) {
            if !condition { throw .invalidParameter(processor: identifier, reason: reason) }
        }
        switch step {
        case .resize(let sizing):
            try require(sizing.target.width > 0 && sizing.target.height > 0, "a side must be at least 1")
        case .crop(let rect):
            try require(rect.size.width > 0 && rect.size.height > 0, "a side must be at least 1")
        case .roundedCorners(let radius):
            try require(radius >= 0, "the radius must be 0 or more")
        case .border(_, let width, let radius):
            try require(width >= 0, "the width must be 0 or more")
            try require(radius >= 0, "the radius must be 0 or more")
        case .blur(let radius):
            try require(0...Self.greatestBlur ~= radius, "the radius must be 0 to 10,000")
        case .padding(let insets, _):
            try require(
                [insets.top, insets.left, insets.bottom, insets.right].allSatisfy { 0...65_535 ~= $0 },
                "an inset must be 0 to 65,535")
        case .rotate(let degrees): try require(degrees % 90 == 0, "the angle must be a multiple of 90")
        case .circle, .flip, .grayscale, .tint, .overlay, .custom: break
        }
    }

    fileprivate func process(
        _ image: consuming Bitmap, _ limits: DecodingLimits
    ) throws(ImageProcessingError) -> Bitmap {
        switch step {
        case .resize(let sizing): return image.resampled(to: sizing)
        case .crop(let rect):
            guard let part = rect.clipped(to: image.size) else {
                throw .unsuitable(
                    processor: identifier,
                    reason: "an image of \(image.width) x \(image.height) has no such part")
            }
            return image.cropped(to: part)
        case .roundedCorners(let radius): image.roundCorners(radius: radius)
        case .circle:
            let side = min(image.width, image.height)
            image = image.resampled(to: ImageSizing(ImageSize(width: side, height: side), mode: .fill))
            image.roundCorners(radius: .infinity)
        case .border(let color, let width, let radius):
            image.drawBorder(color, width: width, radius: radius)
        case .blur(let radius): image.blur(radius: radius)
        case .flip(let axis): return image.turned(axis == .horizontal ? .mirrored : .flipped)
        case .rotate(let degrees):
            let quarters = ((degrees / 90) % 4 + 4) % 4
            return image.turned([.upright, .rotated90, .rotated180, .rotated270][quarters])
        case .grayscale: image.removeColors()
        case .tint(let color): image.tint(color)
        case .overlay(let bitmap, let anchor): image.draw(bitmap, at: anchor)
        case .padding(let insets, let background):
            let size = ImageSize(
                width: image.width + insets.left + insets.right,
                height: image.height + insets.top + insets.bottom)
            do { try limits.check(size) } catch { throw .tooLarge(processor: identifier, size: size) }
            return image.placed(column: insets.left, row: insets.top, in: size, on: background)
        case .custom(let processing):
            do { return try processing.process(image) } catch {
                throw .failed(processor: identifier, reason: "\(error)")
            }
        }
        return image
    }
}

extension ImageRect {
    /// The part of it that lies in an image; nil if there is none.
    fileprivate func clipped(to image: ImageSize) -> ImageRect? {
        func range(_ start: Int, _ length: Int, _ limit: Int) -> Range<Int>? {
            let (end, overflows) = start.addingReportingOverflow(length)
            let (low, high) = (max(0, start), overflows ? limit : min(limit, end))
            return low < high ? low..<high : nil
        }
        guard let columns = range(x, size.width, image.width), let rows = range(y, size.height, image.height)
        else { return nil }
        return ImageRect(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
    }
}

extension Bitmap {
    /// The image at a place on a canvas of one color, such as the transparent one with which an animation begins.
    package func placed(
        column: Int, row: Int, in size: ImageSize, on background: ImageColor = .clear
    ) -> Bitmap {
        guard self.size != size else { return self }
        var canvas = [UInt8](repeating: 0, count: size.bitmapBytes)
        if background != .clear {
            let color = [background.red, background.green, background.blue, background.alpha]
            for index in canvas.indices { canvas[index] = color[index & 3] }
        }
        for line in 0..<height {
            let target = ((row + line) * size.width + column) * 4
            canvas.replaceSubrange(
                target..<target + width * 4, with: pixels[line * width * 4..<(line + 1) * width * 4])
        }
        return Bitmap(width: size.width, height: size.height, pixels: canvas, damage: damage)
    }

    /// A part of the image; it must lie inside.
    package func cropped(to part: ImageRect) -> Bitmap {
        cropped(
            to: PictureLayout(
                scaled: size, columns: part.x..<part.x + part.size.width,
                rows: part.y..<part.y + part.size.height))
    }
}

extension Bitmap {
    /// ITU-R BT.709-6, 3.2, with 16 bits behind the point.
    fileprivate mutating func removeColors() {
        change { pixels in
            for place in stride(from: 0, to: pixels.count, by: 4) {
                let (red, green, blue) = (
                    UInt32(pixels[place]), UInt32(pixels[place + 1]), UInt32(pixels[place + 2])
                )
                let luma = UInt8((13_933 * red + 46_871 * green + 4_732 * blue + 32_768) >> 16)
                for channel in 0..<3 { pixels[place + channel] = luma }
            }
        }
    }

    fileprivate mutating func tint(_ color: ImageColor) {
        change { pixels in
            for place in stride(from: 0, to: pixels.count, by: 4) {
                for (channel, level) in [color.red, color.green, color.blue].enumerated() {
                    let sum =
                        UInt32(level) * UInt32(color.alpha)
                        + UInt32(pixels[place + channel]) * UInt32(255 - color.alpha)
                    pixels[place + channel] = UInt8((sum + 127) / 255)
                }
            }
        }
    }

    fileprivate mutating func draw(_ bitmap: Bitmap, at anchor: ImageContentMode.Anchor) {
        let halves = anchor.halvesBefore
        let left = (width - bitmap.width) * halves.columns / 2
        let top = (height - bitmap.height) * halves.rows / 2
        let (width, height, source) = (width, height, bitmap.pixels)
        change { pixels in
            for row in max(0, -top)..<max(0, -top, min(bitmap.height, height - top)) {
                for column in max(0, -left)..<max(0, -left, min(bitmap.width, width - left)) {
                    let index = (row * bitmap.width + column) * 4
                    let color = ImageColor(
                        red: source[index], green: source[index + 1], blue: source[index + 2])
                    pixels.draw(
                        color, cover: Double(source[index + 3]) / 255,
                        at: ((top + row) * width + left + column) * 4)
                }
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Draws a color over a pixel, neither premultiplied (Porter and Duff, Compositing Digital Images, 1984: "over").
    /// - Parameter cover: how much it covers, 0 to 1, in place of the color's alpha.
    mutating func draw(_ color: ImageColor, cover: Double, at index: Int) {
        let source = SIMD4(Double(color.red), Double(color.green), Double(color.blue), 0)
        let behind = Double(self[index &+ 3]) / 255 * (1 - cover)
        let alpha = cover + behind
        for channel in 0..<3 where alpha > 0 {
            let level = source[channel] * cover + Double(self[index &+ channel]) * behind
            self[index &+ channel] = UInt8((level / alpha).rounded())
        }
        self[index &+ 3] = UInt8((alpha * 255).rounded())
    }
}
