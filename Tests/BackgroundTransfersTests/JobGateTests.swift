import FoundationEssentials
import SystemSupport
import TestSupport
import TestTraits
import Testing

import LazyImages

@testable import BackgroundTransfers

@Suite("The conditions of a job", .bounded)
struct JobGateTests {
    private func conditions(
        _ reach: NetworkPath.Reach?, _ link: NetworkPath.Link? = .wired,
        _ level: MemoryPressure.Level = .normal,
        refusesCellular: Bool = true
    ) -> JobGate.Conditions {
        var conditions = JobGate.Conditions(refusesCellular: refusesCellular)
        conditions.path = reach.map { NetworkPath(reach: $0, link: link) }
        conditions.level = level
        return conditions
    }

    @Test("images of other machines wait for a network that the job may use")
    func remote() {
        #expect(conditions(NetworkPath.Reach.none, nil).remoteWait == .network)
        #expect(conditions(.local).remoteWait == nil)
        #expect(conditions(.internet, .wifi).remoteWait == nil)
        #expect(conditions(.internet, .cellular).remoteWait == .otherNetwork)
        #expect(conditions(.internet, .cellular, refusesCellular: false).remoteWait == nil)
    }

    @Test("images of this machine wait only for memory, and all images wait for memory")
    func local() {
        #expect(conditions(NetworkPath.Reach.none, nil).localWait == nil)
        #expect(conditions(NetworkPath.Reach.none, nil, .warning).localWait == .memory)
        #expect(conditions(.internet, .wired, .critical).remoteWait == .memory)
    }

    @Test("a running transfer is cancelled when the network goes, and the next run repeats it")
    func givenUp() async throws {
        let transport = HeldTransport()
        let loader = FileLoader.ephemeral(transport: transport)
        let prewarmer = Prewarmer(loader)
        let request = ImageRequest(try URL(typed: "https://example.org/a.png"))
        let told = Lock<[JobWait?]>([])
        let gate = JobGate(
            local: Prewarmer(loader), remote: prewarmer, remoteRequests: [request], refusesCellular: false
        ) { wait in told.withLock { $0.append(wait) } }
        await gate.record(NetworkPath(reach: .internet, link: .wifi))
        async let summary = prewarmer.run([request])
        _ = try await transport.transfer(0)
        await gate.record(NetworkPath(reach: .none))
        #expect(await summary.cancelled == 1)
        async let next = prewarmer.run([request])
        try await eventually { prewarmer.waitingCount == 1 }
        await gate.record(NetworkPath(reach: .internet, link: .wifi))
        _ = try await transport.transfer(1)
        prewarmer.cancel([request])
        #expect(await next.cancelled == 1)
        #expect(told.withLock { $0 } == [.network, nil])
    }
}
