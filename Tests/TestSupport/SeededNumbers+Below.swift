package import SystemSupport

extension SeededNumbers {
    /// A number from 0 to `limit - 1`.
    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
