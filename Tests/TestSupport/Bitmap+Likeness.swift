import Glibc
package import ImageCodecs

extension Bitmap {
    /// The likeness of the colours to another picture of the same size in decibels (PSNR); infinite for the same pixels, and nil
    /// for another size.
    package func signalToNoise(to other: Bitmap) -> Double? {
        guard size == other.size else { return nil }
        var total = 0
        for index in pixels.indices where index % 4 != 3 {
            let difference = Int(pixels[index]) - Int(other.pixels[index])
            total += difference * difference
        }
        return 10 * log10(255 * 255 * Double(width * height * 3) / Double(total))
    }
}
