/// How a disk cache served one host, in all processes together, as far as they got to note it.
package struct HostStatistics: Equatable, Sendable {
    /// Lookups that found an entry.
    package internal(set) var hits = 0
    /// Lookups that did not.
    package internal(set) var misses = 0
    /// Values that reached the disk.
    package internal(set) var stores = 0
    /// Entries that failed a check and were removed.
    package internal(set) var corrupt = 0

    static func += (one: inout HostStatistics, other: HostStatistics) {
        one.hits &+= other.hits
        one.misses &+= other.misses
        one.stores &+= other.stores
        one.corrupt &+= other.corrupt
    }
}
