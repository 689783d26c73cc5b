import Glibc
package import ImageCodecs

extension Bitmap {
    /// The peak signal-to-noise ratio to another bitmap, in decibels; infinite for equal pixels, nil for
    /// another size.
    package func peakSignalToNoise(to other: Bitmap) -> Double? {
        guard size == other.size else { return nil }
        var total = 0
        for index in pixels.indices where index % 4 != 3 {
            let difference = Int(pixels[index]) - Int(other.pixels[index])
            total += difference * difference
        }
        return 10 * log10(255 * 255 * Double(width * height * 3) / Double(total))
    }
}
