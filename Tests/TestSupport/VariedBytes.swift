/// Bytes that differ if a piece is lost, repeated or moved: after each kibibyte comes its offset.
public func variedBytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += kibibyte + Array("\(bytes.count)".utf8) }
    return Array(bytes.prefix(count))
}

private let kibibyte = (0..<1024).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
