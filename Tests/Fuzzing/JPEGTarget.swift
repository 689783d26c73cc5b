/// Any bytes as a JPEG: at full size, at an eighth, cut in half, and its header.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJPEG(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    // Starts with the bytes of every JPEG, so that the fuzzer need not find them.
    let bytes: [UInt8] = [0xFF, 0xD8, 0xFF] + UnsafeBufferPointer(start: start, count: count)
    FuzzedFile(bytes).check(fitting: [nil, ImageSize(width: 20, height: 20)])
    FuzzedFile(Array(bytes.prefix(3 + count / 2))).check(fitting: [nil])
    return 0
}
