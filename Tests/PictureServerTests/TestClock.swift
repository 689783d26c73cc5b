import LazyImages
import SystemSupport

/// A clock that the test sets.
final class TestClock: Sendable {
    static let start = 1_790_000_000
    private let now = Lock(start)

    var seconds: Int { now.withLock { $0 } }
    var wall: WallClock { WallClock { [self] in seconds } }
    func advance(by seconds: Int) { now.withLock { $0 += seconds } }
}
