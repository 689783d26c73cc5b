/// Broadcasts elements to any number of readers, each with a stream of its own. A plain struct, not safe for concurrent
/// use: the owner's lock guards it.
///
/// The owner yields a value under the same lock under which it has changed it. Otherwise a stream of newest values could
/// end on an old one:
///
/// 1. Thread A sets the value to 1 and unlocks.
/// 2. Thread B sets it to 2, unlocks, and yields 2.
/// 3. Thread A yields 1. No further value comes.
///
/// To yield runs no code of a reader. To finish does, so it must not happen under the lock.
package struct Broadcast<Element: Sendable>: Sendable {
    /// The writing end of a reader's stream.
    package typealias Reader = AsyncStream<Element>.Continuation

    private var readers: [Int: Reader] = [:]
    private var lastNumber = 0

    package init() {}

    package var isEmpty: Bool { readers.isEmpty }

    /// Adds a reader.
    /// - Returns: its number, for `remove`.
    package mutating func add(_ reader: Reader) -> Int {
        lastNumber += 1
        readers[lastNumber] = reader
        return lastNumber
    }

    package mutating func remove(_ number: Int) { readers[number] = nil }

    package func yield(_ element: Element) {
        for reader in readers.values { reader.yield(element) }
    }

    /// Ends the streams.
    package func finish() {
        for reader in readers.values { reader.finish() }
    }
}
