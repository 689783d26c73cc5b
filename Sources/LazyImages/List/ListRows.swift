import SystemSupport

/// The requests of a list's rows, made when they are first read: the cost of a list of a hundred thousand rows is that of
/// the rows on the screen. The requests made last are kept.
///
/// Safe for concurrent use from any thread or actor.
public final class ListRows: Sendable {
    /// How many requests are kept: more than any screen and its page ahead have.
    private static let kept = 1024

    /// How many rows there are.
    public let count: Int

    private let make: @Sendable (_ row: Int) -> ImageRequest?
    private let made = Lock<[Int: ImageRequest?]>([:])

    /// Rows whose requests a closure makes.
    /// - Parameters:
    ///   - count: how many rows there are.
    ///   - request: the request of a row, counted from 0; nil for a row without an image. It is called on any thread,
    ///     perhaps more than once for a row, and must return the same each time.
    public init(count: Int, request: @escaping @Sendable (_ row: Int) -> ImageRequest?) {
        self.count = count
        make = request
    }

    /// Rows with these requests.
    /// - Parameter requests: the request of each row; nil for a row without an image.
    public convenience init(_ requests: [ImageRequest?]) {
        self.init(count: requests.count) { requests[$0] }
    }

    /// The request of a row; nil for a row without an image, and outside the list.
    /// - Parameter row: a row, counted from 0.
    public subscript(row: Int) -> ImageRequest? {
        guard row >= 0, row < count else { return nil }
        if let request = made.withLock({ $0[row] }) { return request }
        let request = make(row)
        made.withLock { made in
            if made.count >= Self.kept { made.removeAll(keepingCapacity: true) }
            made[row] = .some(request)
        }
        return request
    }
}

extension ListRows {
    /// The event that replaces the list by these rows.
    func replacing(visible: Range<Int>, focus: Int? = nil) -> ScrollWindow<LoadKey>.Event {
        .replaced(count: count, key: { self[$0].map(LoadKey.init) }, visible: visible, focus: focus)
    }
}
