/// Any bytes as a WebP. The first chooses between a file of chunks, a lossless image and a lossy one. The headers of these
/// are corrected, so that the decoder reads past them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = input.first else { return 0 }
    var body = Array(input.dropFirst())
    var file = Array("RIFF".utf8)
    func append(_ number: Int) {
        for index in 0..<4 { file.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }
    switch kind & 3 {
    case 1 where body.count >= 5:
        // The signature, and sides of at most 64 pixels.
        body[0] = 0x2F
        body[2] &= 0x0F
        body[1] &= 0x3F
        body[3] &= 0x0F
        body[4] = 0
        append(12 + body.count)
        file += Array("WEBPVP8L".utf8)
        append(body.count)
    case 2 where body.count >= 10:
        // A key frame that is shown, its start code, and sides of at most 63 pixels.
        body[0] = body[0] & 0xF6 | 0x10
        body.replaceSubrange(3..<6, with: [0x9D, 0x01, 0x2A])
        (body[6], body[7], body[8], body[9]) = (max(1, body[6] & 63), 0, max(1, body[8] & 63), 0)
        append(12 + body.count)
        file += Array("WEBPVP8 ".utf8)
        append(body.count)
    default:
        append(4 + body.count)
        file += Array("WEBP".utf8)
    }
    FuzzedFile(file + body).check(fitting: [nil, ImageSize(width: 5, height: 5)])
    return 0
}
