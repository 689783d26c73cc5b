extension Bitmap {
    /// The picture at another size, each pixel the mean of the area it covers; translucent pixels count by
    /// their alpha. Means are taken of the stored values, without linearising them. Both sides must be positive,
    /// and this picture at most 65,535 rows high.
    public func resized(to size: ImageSize) -> Bitmap {
        guard size != self.size else { return self }
        var averager = AreaAverager(from: self.size, to: size, weighingByAlpha: !isOpaque)
        let stride = width * 4
        for row in 0..<height { averager.add(row: pixels.span.extracting(row * stride..<(row + 1) * stride)) }
        return averager.finish(isComplete: isComplete)
    }

    /// The picture made to fit into `box`, never enlarged; the picture itself without a box.
    func fitted(into box: ImageSize?) -> Bitmap {
        guard let box else { return self }
        return resized(to: size.fitted(into: box))
    }
}
