/// Any bytes as the rows of a PNG, after any header, without compression and with correct checksums.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPNGRows(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    guard count > 4 else { return 0 }
    let kinds: [(UInt8, UInt8)] = [
        (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (8, 2), (16, 2), (1, 3), (2, 3), (4, 3), (8, 3), (8, 4),
        (16, 4),
        (8, 6), (16, 6),
    ]
    let (depth, colour) = kinds[Int(input[0]) % kinds.count]
    let (width, height) = (Int(input[1] & 63) + 1, Int(input[2] & 63) + 1)
    let header: [UInt8] = [0, 0, 0, UInt8(width), 0, 0, 0, UInt8(height), depth, colour, 0, 0, input[3] & 1]
    let rows = Array(input.dropFirst(4).prefix(65_535))
    let length = UInt16(rows.count)
    let block = [1, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)]
    let file =
        PNGSignature.magic.bytes + chunk("IHDR", header) + chunk("PLTE", [UInt8](repeating: 7, count: 6))
        + chunk("IDAT", [0x78, 0x01] + block + rows + bigEndian(Adler32.checksum(of: rows.span)))
        + chunk("IEND", [])
    FuzzedFile(file).check(fitting: [nil, ImageSize(width: 3, height: 9)])
    return 0
}

private func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    let checked = Array(type.utf8) + body
    return bigEndian(UInt32(body.count)) + checked + bigEndian(CRC32.checksum(of: checked.span))
}

private func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
}
