/// Any bytes as a BMP, behind its signature.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBMP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let file = Array("BM".utf8) + UnsafeBufferPointer(start: start, count: count)
    FuzzedFile(file).check(fitting: [nil, ImageSize(width: 5, height: 5)])
    return 0
}
