import Synchronization

/// Stands for one caller's stake in one load, so that the caller can change its priority while it waits. Make one per
/// load; a ticket is not used for two loads at a time.
public final class LoadTicket: Sendable, Hashable, Comparable {
    private static let last = Atomic<UInt64>(0)
    private let number = LoadTicket.last.add(1, ordering: .relaxed).newValue
    private let wish = Atomic<Int>(-1)

    /// A ticket like no other in this process.
    public init() {}

    /// What its caller wished for last; nil where the request's own priority stands. A wish is noted here before anybody
    /// is told of it, so that a load which begins meanwhile begins with it.
    var priority: ImageRequest.Priority? {
        get { ImageRequest.Priority(rawValue: wish.load(ordering: .acquiring)) }
        set { wish.store(newValue?.rawValue ?? -1, ordering: .releasing) }
    }

    /// Whether both are one.
    public static func == (one: LoadTicket, other: LoadTicket) -> Bool { one === other }

    /// Tickets made earlier come first.
    public static func < (left: LoadTicket, right: LoadTicket) -> Bool { left.number < right.number }

    /// Feeds what makes the ticket like no other.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
