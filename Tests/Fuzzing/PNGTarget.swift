/// Any bytes as the chunks of a PNG. Their checksums are corrected, so that the decoder reads past them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPNG(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var bytes = PNGSignature.magic.bytes + UnsafeBufferPointer(start: start, count: count)
    var offset = PNGSignature.magic.bytes.count
    while let length = bytes.span.bigEndian32(at: offset), offset + 12 + length <= bytes.count {
        let end = offset + 8 + length
        let check = CRC32.checksum(of: bytes.span.extracting(offset + 4..<end))
        for index in 0..<4 { bytes[end + index] = UInt8(truncatingIfNeeded: check >> UInt32(24 - 8 * index)) }
        offset = end + 4
    }
    FuzzedFile(bytes).check(fitting: [nil, ImageSize(width: 5, height: 5)])
    return 0
}
