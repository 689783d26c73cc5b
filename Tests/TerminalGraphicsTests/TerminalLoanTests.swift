import Glibc
import SystemSupport
import TestSupport
import Testing

@testable import TerminalGraphics

@Suite("Lending the terminal", .timeLimit(.minutes(30)))
struct TerminalLoanTests {
    @Test("the reader pauses until the terminal is returned, each time")
    func turns() throws {
        let loan = try #require(TerminalLoan())
        let events = Lock<[String]>([])
        let ended = Gate()
        try BlockingThreads.startThread { [loan] in
            for turn in 1...3 {
                _ = Polling.ready([(loan.reader, POLLIN)])
                events.withLock { $0.append("asked \(turn)") }
                loan.standAside()
                events.withLock { $0.append("back \(turn)") }
            }
            ended.open()
        }
        for turn in 1...3 {
            #expect(loan.take())
            // Until the terminal is returned, the reader does nothing.
            #expect(events.withLock { $0.last } == "asked \(turn)")
            loan.giveBack()
        }
        ended.wait()
        #expect(events.withLock { $0.count } == 6)
    }
}
