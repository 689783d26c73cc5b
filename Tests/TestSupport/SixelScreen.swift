public import ImageCodecs

/// A terminal's rendering of a sixel picture, written for the tests from DEC STD 070.
public struct SixelScreen {
    private(set) var pixels: [SIMD4<UInt8>]
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// Counts runs of one character that were not encoded although a repeat count is shorter.
    public private(set) var longestPlainRun = 0

    /// The rendered picture.
    public var bitmap: Bitmap {
        Bitmap(width: width, height: height, pixels: pixels.flatMap { [$0.x, $0.y, $0.z, $0.w] })
    }

    /// Nil unless the bytes are a sixel picture of the form `ESC P 7;1;q "1;1;W;H ... ESC \` that stays
    /// within its size.
    public init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func number() -> Int? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            return Int(String(decoding: digits, as: UTF8.self))
        }
        func take(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }
        guard take("\u{1B}P7;1;q\"1;1;"), let width = number(), take(";"), let height = number() else {
            return nil
        }
        (self.width, self.height) = (width, height)
        pixels = Array(repeating: SIMD4(), count: width * height)
        var colours: [Int: SIMD4<UInt8>] = [:]
        var (colour, column, band) = (0, 0, 0)
        var (last, plainRun): (UInt8, Int) = (0, 0)
        while !take("\u{1B}\\") {
            if take("#") {
                guard let index = number() else { return nil }
                colour = index
                if take(";2;") {
                    guard let red = number(), take(";"), let green = number(), take(";"), let blue = number()
                    else { return nil }
                    func level(_ value: Int) -> UInt8 { UInt8((value * 255 + 50) / 100) }
                    colours[index] = SIMD4(level(red), level(green), level(blue), 255)
                }
            } else if take("$") {
                column = 0
            } else if take("-") {
                (column, band) = (0, band + 1)
            } else {
                let isRun = take("!")
                let count = isRun ? number() : 1
                guard let count, let character = rest.popFirst(), (0x3F...0x7E).contains(character) else {
                    return nil
                }
                plainRun = isRun ? 0 : character == last ? plainRun + 1 : 1
                last = character
                longestPlainRun = max(longestPlainRun, plainRun)
                for _ in 0..<count {
                    for line in 0..<6 where (character - 0x3F) >> UInt8(line) & 1 == 1 {
                        let row = band * 6 + line
                        guard column < width, row < height, let own = colours[colour] else { return nil }
                        pixels[row * width + column] = own
                    }
                    column += 1
                }
                continue
            }
            (last, plainRun) = (0, 0)
        }
        guard rest.isEmpty else { return nil }
    }
}
