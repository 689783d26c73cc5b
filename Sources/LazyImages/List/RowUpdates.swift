/// News of a list's rows, as `ImageListModel.updates`. Whoever begins to read is told first of every row that shows
/// something. A slow reader gets the newest state of each row and makes nobody wait; several readers each get everything.
/// Ends with the model, or when the reading task is cancelled.
public struct RowUpdates: AsyncSequence, Sendable {
    /// News of one row.
    public typealias Element = RowUpdate
    /// It never fails.
    public typealias Failure = Never

    let board: RowBoard

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(board) }

    /// One reader's place.
    public struct Iterator: AsyncIteratorProtocol {
        /// Takes the reader off the board when its iterator is gone.
        private final class Place: Sendable {
            let board: RowBoard
            let number: Int

            init(_ board: RowBoard, _ number: Int) {
                self.board = board
                self.number = number
            }

            deinit { board.removeReader(number) }
        }

        private let place: Place
        private var bell: AsyncStream<Void>.Iterator

        init(_ board: RowBoard) {
            let (number, bell) = board.addReader()
            place = Place(board, number)
            self.bell = bell.makeAsyncIterator()
        }

        /// The next news, once there is some.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> RowUpdate? {
            repeat {
                if Task.isCancelled { return nil }
                if let update = place.board.next(for: place.number) { return update }
            } while await bell.next(isolation: actor) != nil
            return nil
        }
    }
}
