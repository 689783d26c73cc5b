import TestTraits
import Testing

@testable import marquee_bench

@Suite("The simulation of a fleet", .bounded)
struct FleetSimulationTests {
    private var fleet: FleetSimulation {
        FleetSimulation(sources: 20_000, instances: 40, pointsEach: 160)
    }

    @Test("an instance that is added takes its part, and nothing else moves")
    func added() {
        let change = fleet.change(to: Array(0...40))
        #expect(change.movedInVain == 0)
        #expect(change.moved > 0.5 / 41 && change.moved < 1.5 / 41)
    }

    @Test("what a lost zone had is spread over all others")
    func zoneLost() {
        let change = fleet.change(to: fleet.withoutZone)
        #expect(change.movedInVain == 0)
        #expect(change.moved > 0.28 && change.moved < 0.40)
        #expect(change.worst < 1.5)
    }

    @Test("more points make more equal parts")
    func points() {
        var few = fleet
        few.pointsEach = 4
        #expect(few.sourceBalance().worst > 1.5)
        #expect(fleet.sourceBalance().worst < 1.4)
    }

    @Test("a bounded load holds its bound, and hands on no more than has to be")
    func boundedLoad() {
        let free = fleet.requestBalance(requests: 4000, factor: nil)
        let bounded = fleet.requestBalance(requests: 4000, factor: 1.25)
        #expect(free.elsewhere == 0)
        #expect(free.worst > 1.25)
        #expect(bounded.worst <= 1.25)
        #expect(bounded.elsewhere > 0 && bounded.elsewhere < 0.5)
    }

    @Test("each picture that moved is read from the store once")
    func storeReads() {
        let reads = fleet.storeReads(after: fleet.withoutZone, rate: 20_000, sizes: 2, seconds: 20)
        #expect(reads[0] > reads[19])
        let moved = Double(fleet.sources) * fleet.change(to: fleet.withoutZone).moved
        #expect(Double(reads.reduce(0, +)) <= 2 * moved + 1)
        #expect(fleet.storeReads(after: Array(0..<40), rate: 1000, sizes: 2, seconds: 2) == [0, 0])
    }
}
