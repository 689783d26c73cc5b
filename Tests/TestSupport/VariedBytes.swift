/// Bytes that differ if a piece is lost, repeated or moved. They are made here, where the optimiser is on: otherwise a
/// mebibyte takes a tenth of a second.
public func variedBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}
