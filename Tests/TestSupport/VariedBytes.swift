/// Bytes of which a lost, repeated or misplaced piece changes the rest. They are made here, with the optimiser: without
/// it a closure for each byte takes a tenth of a second for a mebibyte.
public func variedBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}
