import SystemSupport

/// The requests of a list's rows, made as they are looked at: a list of a hundred thousand rows costs what is on the screen.
/// A request that was made is kept while the rows around it are looked at.
///
/// Safe for concurrent use from any thread or actor.
public final class ListRows: Sendable {
    /// How many requests are kept, which is more than any screen and its page ahead show.
    private static let kept = 1024

    /// How many rows there are.
    public let count: Int

    private let make: @Sendable (_ row: Int) -> ImageRequest?
    private let made = Lock<[Int: ImageRequest?]>([:])

    /// - Parameter request: what a row shows, from 0; nil for a row without an image. Asked from any thread, for a row
    ///   perhaps more than once, and must answer the same each time.
    public init(count: Int, request: @escaping @Sendable (_ row: Int) -> ImageRequest?) {
        self.count = count
        make = request
    }

    /// Rows whose requests are there already.
    public convenience init(_ requests: [ImageRequest?]) {
        self.init(count: requests.count) { requests[$0] }
    }

    /// What a row shows; nil for a row without an image, and outside the list.
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
    /// The event of a list that shows these rows from now on.
    func replacing(visible: Range<Int>) -> ScrollWindow<LoadKey>.Event {
        .replaced(count: count, key: { self[$0].map(LoadKey.init) }, visible: visible)
    }
}
