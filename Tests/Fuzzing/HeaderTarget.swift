/// Any bytes as the start of a file of any format.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHeader(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    FuzzedFile(Array(UnsafeBufferPointer(start: start, count: count))).checkHeader()
    return 0
}
