import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import TerminalGraphics

@Suite("Lending the terminal", .bounded)
struct TerminalHandoverTests {
    @Test("the reader pauses until the terminal is returned, each time")
    func turns() throws {
        let handover = try #require(TerminalHandover())
        let events = Lock<[String]>([])
        let ended = Gate()
        try BlockingThreads.startThread { [handover] in
            for turn in 1...3 {
                _ = Polling.ready([(handover.reader, POLLIN)])
                events.withLock { $0.append("asked \(turn)") }
                handover.pause()
                events.withLock { $0.append("back \(turn)") }
            }
            ended.open()
        }
        for turn in 1...3 {
            #expect(handover.request())
            // Until the terminal is returned, the reader does nothing.
            #expect(events.withLock { $0.last } == "asked \(turn)")
            handover.release()
        }
        ended.wait()
        #expect(events.withLock { $0.count } == 6)
    }
}
