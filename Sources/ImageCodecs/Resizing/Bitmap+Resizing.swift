extension Bitmap {
    /// The picture at another size, each pixel the mean of the area it covers; translucent pixels count by
    /// their alpha. Means are taken of the stored values, without linearising them. Both sides must be positive,
    /// and this picture at most 65,535 rows high.
    public func resized(to size: ImageSize) -> Bitmap { resized(to: PictureLayout(whole: size)) }

    /// The picture as `sizing` wants it, never enlarged; the picture itself without one.
    func resized(to sizing: ImageSizing?) -> Bitmap { resized(to: PictureLayout(size, to: sizing)) }

    private func resized(to layout: PictureLayout) -> Bitmap {
        guard layout.scaled != size else { return cropped(to: layout) }
        var averager = AreaAverager(from: size, to: layout, weighingByAlpha: !isOpaque)
        let stride = width * 4
        for row in 0..<height { averager.add(row: pixels.span.extracting(row * stride..<(row + 1) * stride)) }
        return averager.finish(isComplete: isComplete)
    }

    /// The columns and rows of a layout that does not scale this picture.
    func cropped(to layout: PictureLayout) -> Bitmap {
        guard layout.size != size else { return self }
        let source = pixels.span
        let kept = [UInt8](capacity: layout.size.width * layout.size.height * 4) { output in
            for row in layout.rows {
                let start = row &* width
                for index in (start &+ layout.columns.lowerBound) &* 4..<(start &+ layout.columns.upperBound)
                    &* 4
                {
                    output.append(source[index])
                }
            }
        }
        return Bitmap(
            width: layout.size.width, height: layout.size.height, pixels: kept, isComplete: isComplete)
    }
}
