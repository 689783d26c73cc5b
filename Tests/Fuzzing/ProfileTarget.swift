/// Any bytes as a colour profile, behind a byte that says what the pixels are.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProfile(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let spaces: [ICCProfile.Space] = [.rgb, .grey, .cmyk]
    let space = spaces[Int(first) % spaces.count]
    let profile = input.dropFirst()
    guard let transform = ColourTransform(profile: Array(profile).span, for: space) else { return 0 }
    let pixels = (0..<64).map { UInt8(truncatingIfNeeded: $0 * 37) }
    let bitmap = Bitmap(width: 4, height: 4, pixels: pixels)
    if space == .cmyk {
        for index in 0..<16 { _ = transform.colour(ofInks: SIMD4(repeating: UInt8(index * 17))) }
    } else {
        precondition(bitmap.converted(by: transform).size == bitmap.size)
    }
    return 0
}
