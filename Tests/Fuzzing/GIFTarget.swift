/// Any bytes as a GIF, behind its signature.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGIF(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let file = Array("GIF89a".utf8) + UnsafeBufferPointer(start: start, count: count)
    FuzzedFile(file).check(fitting: [nil, ImageSize(width: 5, height: 5)])
    return 0
}
