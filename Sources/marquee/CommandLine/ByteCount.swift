/// Sizes for people.
enum ByteCount {
    private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// `834 bytes`, `41.3 KiB`, `512 MiB`: powers of 1024, like the options that take sizes.
    static func text(_ count: Int) -> String {
        if count < 1024 { return count == 1 ? "1 byte" : "\(count) bytes" }
        var value = Double(count) / 1024
        var unit = 0
        // A value that would round to 1024.0 goes to the next unit.
        while value >= 1023.95, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        let isWhole = value == value.rounded()
        return "\(value.formatted(decimals: isWhole ? 0 : 1)) \(units[unit])"
    }
}
