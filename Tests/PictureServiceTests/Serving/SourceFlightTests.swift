import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import PictureService

@Suite("Single flight of sources", .bounded)
struct SourceFlightTests {
    /// The deliveries, in order.
    private final class Inbox: Sendable {
        private let log = Lock<[String]>([])
        var all: [String] { log.withLock { $0 } }

        func take(_ name: String) -> SourceFlight.Delivery {
            { [self] outcome in
                guard case .failure(let failure) = outcome else { return }
                log.withLock { $0.append("\(name) \(failure.detail)") }
            }
        }
    }

    private let inbox = Inbox()
    private let small: PictureRecipe
    private let large: PictureRecipe
    private let flight: SourceFlight

    init() throws {
        small = try PictureRecipe("w92")
        large = try PictureRecipe("w342")
        flight = SourceFlight(.address(try PictureSource("https://images.example/a"), isSigned: false))
    }

    private func outcome(_ detail: String) -> PictureOutcome {
        .failure(PictureFailure(.badGateway, detail))
    }

    /// A task that runs until it is cancelled.
    private func endless() -> Task<Void, Never> {
        Task { try? await Tally().wait(for: 1) }
    }

    @Test("all requests of a recipe get one outcome, in order of arrival")
    func joined() throws {
        for name in ["a", "b"] { #expect(flight.join(small, now: 5, inbox.take(name)) != nil) }
        #expect(flight.join(large, now: 5, inbox.take("c")) != nil)
        #expect(flight.next() == small)
        flight.deliver(outcome("1"), for: small)
        #expect(inbox.all == ["a 1", "b 1"])
        #expect(flight.next() == large)
        flight.deliver(outcome("2"), for: large)
        #expect(inbox.all == ["a 1", "b 1", "c 2"])
        #expect(flight.next() == nil)
    }

    @Test("recipes that give the same bytes are made once")
    func sameDerivation() throws {
        #expect(flight.join(small, now: 5, inbox.take("a")) != nil)
        #expect(try flight.join(PictureRecipe("w92.q80.v7"), now: 5, inbox.take("b")) != nil)
        flight.deliver(outcome("1"), for: small)
        #expect(inbox.all == ["a 1", "b 1"] && flight.next() == nil)
    }

    @Test("a request that joins while the recipe is made gets it; a later one has it made again")
    func lateJoiner() throws {
        #expect(flight.join(small, now: 5, inbox.take("a")) != nil)
        #expect(flight.next() == small)
        #expect(flight.join(small, now: 5, inbox.take("late")) != nil)
        flight.deliver(outcome("1"), for: small)
        #expect(flight.join(small, now: 5, inbox.take("later")) != nil)
        #expect(flight.next() == small)
        flight.deliver(outcome("2"), for: small)
        #expect(inbox.all == ["a 1", "late 1", "later 2"])
    }

    @Test("a flight that is over or closed is not joined; waiting requests still get the outcome")
    func closed() throws {
        #expect(flight.join(small, now: 5, inbox.take("a")) != nil)
        flight.close()
        #expect(flight.join(small, now: 5, inbox.take("b")) == nil && flight.next() == small)
        flight.deliver(outcome("1"), for: small)
        #expect(inbox.all == ["a 1"] && !flight.isForgotten)
        #expect(flight.next() == nil && flight.join(large, now: 5, inbox.take("c")) == nil)

        let other = SourceFlight(flight.original)
        #expect(other.join(small, now: 5, inbox.take("d")) != nil)
        other.forget()
        #expect(
            other.isForgotten && other.join(small, now: 5, inbox.take("e")) == nil && other.next() == small)
    }

    @Test("a flight is not joined once the origin's answer is no longer fresh")
    func heldUntil() throws {
        #expect(flight.join(small, now: 5, inbox.take("a")) != nil)
        flight.close(at: 7)
        #expect(flight.join(small, now: 6, inbox.take("b")) != nil)
        #expect(flight.join(small, now: 7, inbox.take("c")) == nil && flight.next() == small)
        flight.deliver(outcome("1"), for: small)
        #expect(inbox.all == ["a 1", "b 1"])
    }

    @Test("a cancelled request gets nothing; the last cancelled one cancels the work")
    func leaving() async throws {
        let task = endless()
        let first = try #require(flight.join(small, now: 5, inbox.take("a"))).number
        flight.setTask(task)
        let second = try #require(flight.join(small, now: 5, inbox.take("b"))).number
        let third = try #require(flight.join(large, now: 5, inbox.take("c"))).number
        #expect(!flight.leave(small, first) && !task.isCancelled)
        #expect(!flight.leave(small, second) && !task.isCancelled)
        // The recipe has no request any more.
        #expect(flight.next() == large)
        #expect(flight.leave(large, third) && task.isCancelled)
        #expect(!flight.leave(large, third))
        flight.deliver(outcome("1"), for: large)
        #expect(inbox.all.isEmpty)
        #expect(flight.join(small, now: 5, inbox.take("d")) == nil)
        await task.value
    }

    @Test("work whose last request left before its start is cancelled at its start")
    func leftBefore() async throws {
        let number = try #require(flight.join(small, now: 5, inbox.take("a"))).number
        #expect(flight.leave(small, number))
        let task = endless()
        flight.setTask(task)
        #expect(task.isCancelled)
        await task.value
    }

    @Test("leaving after the outcome has no effect")
    func leftAfter() throws {
        let number = try #require(flight.join(small, now: 5, inbox.take("a"))).number
        flight.deliver(outcome("1"), for: small)
        #expect(!flight.leave(small, number) && flight.next() == nil)
        #expect(!flight.leave(small, number))
    }
}
