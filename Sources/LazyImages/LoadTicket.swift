import Synchronization

/// Stands for one caller's stake in one load, so that the caller can change its priority while it waits. Make one per
/// load; a ticket is not used for two loads at a time.
public struct LoadTicket: Sendable, Hashable, Comparable {
    private static let last = Atomic<UInt64>(0)
    private let number = LoadTicket.last.add(1, ordering: .relaxed).newValue

    /// A ticket like no other in this process.
    public init() {}

    /// Tickets made earlier come first.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
