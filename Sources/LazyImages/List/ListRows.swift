import SystemSupport

/// The requests of a list's rows, made on demand: a list of a hundred thousand rows costs no more than the rows on the
/// screen. Keeps the last requests.
///
/// Safe for concurrent use from any thread or actor.
public final class ListRows: Sendable {
    /// The most requests to keep: more than any screen and its page ahead need.
    private static let kept = 1024

    /// The number of rows.
    package let count: Int

    private let make: @Sendable (_ row: Int) -> ImageRequest?
    private let made = Lock<[Int: ImageRequest?]>([:])

    /// Rows with the requests of a closure.
    /// - Parameters:
    ///   - count: the number of rows.
    ///   - request: returns the request of a row, counted from 0; nil for a row without an image. Called on any thread,
    ///     perhaps repeatedly for one row, and must always return the same request.
    public init(count: Int, request: @escaping @Sendable (_ row: Int) -> ImageRequest?) {
        self.count = count
        make = request
    }

    /// Rows with these requests.
    /// - Parameter requests: the request of each row; nil for a row without an image.
    package convenience init(_ requests: [ImageRequest?]) {
        self.init(count: requests.count) { requests[$0] }
    }

    /// The request of a row; nil for a row without an image or outside the list.
    /// - Parameter row: a row, counted from 0.
    package subscript(row: Int) -> ImageRequest? {
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
    /// The event that replaces the list with these rows.
    func replacing(visible: Range<Int>, focus: Int? = nil) -> ScrollWindow<LoadKey>.Event {
        .replaced(count: count, key: { self[$0].map(LoadKey.init) }, visible: visible, focus: focus)
    }
}
