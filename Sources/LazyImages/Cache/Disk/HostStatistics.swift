/// The lookups and stores of a disk cache for one host, of all processes, as far as they were written.
package struct HostStatistics: Equatable, Sendable {
    /// Lookups that found an entry.
    package internal(set) var hits = 0
    /// Lookups that found no entry.
    package internal(set) var misses = 0
    /// Values written to the disk.
    package internal(set) var stores = 0
    /// Entries, and partial bodies of interrupted downloads, that failed a check and were removed.
    package internal(set) var corrupt = 0

    static func += (one: inout HostStatistics, other: HostStatistics) {
        one.hits &+= other.hits
        one.misses &+= other.misses
        one.stores &+= other.stores
        one.corrupt &+= other.corrupt
    }
}

/// The look-ups of one day, of all hosts and processes.
package struct DayLookups: Equatable, Sendable {
    /// Lookups that found an entry.
    package internal(set) var hits = 0
    /// Lookups that did not.
    package internal(set) var misses = 0

    static func += (one: inout DayLookups, other: DayLookups) {
        one.hits &+= other.hits
        one.misses &+= other.misses
    }
}
