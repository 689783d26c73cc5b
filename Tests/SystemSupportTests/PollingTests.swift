import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@Suite("Polling", .bounded)
struct PollingTests {
    @Test("the ready descriptors are returned, or none at the deadline")
    func ready() throws {
        let (open, shut) = (Gate(), Gate())
        open.open()
        let both = [(number: shut.descriptor, events: POLLIN), (number: open.descriptor, events: POLLIN)]
        #expect(Polling.ready(both) == [false, true])
        let start = ContinuousClock.now
        #expect(Polling.ready([both[0]], until: start + .milliseconds(2)) == [false])
        #expect(ContinuousClock.now >= start + .milliseconds(2))
    }
}
