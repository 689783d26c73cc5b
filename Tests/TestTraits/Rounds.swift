import FoundationEssentials

/// How often a test of random inputs, faults or races repeats itself.
package enum Rounds {
    /// - Returns: `few` in a plain `swift test`; `many` with `MARQUEE_MANY_ROUNDS=1`, as CI sets it where it checks
    ///   memory.
    package static func count(_ few: Int, many: Int) -> Int { wantsMany ? many : few }

    private static let wantsMany = ProcessInfo.processInfo.environment["MARQUEE_MANY_ROUNDS"] == "1"
}
